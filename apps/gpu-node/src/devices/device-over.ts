import type { NodeDevice } from './device.ts';

/** A device with the members of `own`; all others are read from `inner` at each access. */
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
