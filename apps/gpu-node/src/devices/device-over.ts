import type { NodeDevice } from './device.ts';

/** A device that does and says what `own` has, and for all else is `inner` as that is at the moment. */
export function deviceOver(inner: NodeDevice, own: Partial<NodeDevice>): NodeDevice {
  const over = new Proxy(own, {
    get(_, name) {
      const from = name in own ? own : inner;
      const value: unknown = Reflect.get(from, name);
      return typeof value === 'function' ? value.bind(from) : value;
    },
  });
  return over as NodeDevice;
}
