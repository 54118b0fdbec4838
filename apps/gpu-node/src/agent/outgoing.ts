import { type AttachRequest, type FoundAnswer, splitAnswer } from '@halogrid/proto';

type Message = NonNullable<AttachRequest['report']>;

/** A report of the node. An answer may become several messages. */
export type OutgoingReport =
  | Exclude<Message, { $case: 'completed' | 'part' }>
  | { $case: 'completed'; value: FoundAnswer };

/** Takes messages as streams do: if `write` returns false, the writer waits for the next 'drain'. */
export interface MessageStream {
  write(message: AttachRequest): boolean;
  end(): void;
  once(event: 'drain', listener: () => void): unknown;
}

/**
 * Sends reports in order. A long answer is split into messages only as the stream takes them, so that it waits as its
 * counts, without encoded bytes beside them.
 */
export class Outgoing {
  readonly #stream: MessageStream;
  readonly #reports: Iterator<Message, void>[] = [];
  #isBlocked = false;
  #isEnding = false;

  constructor(stream: MessageStream) {
    this.#stream = stream;
  }

  send(report: OutgoingReport): void {
    this.#reports.push(report.$case === 'completed' ? splitAnswer(report.value) : [report].values());
    this.#write();
  }

  /** Ends the stream when everything is written. */
  end(): void {
    this.#isEnding = true;
    this.#write();
  }

  #write(): void {
    while (!this.#isBlocked && this.#reports.length > 0) {
      const next = this.#reports[0]!.next();
      if (next.done) this.#reports.shift();
      else if (!this.#stream.write({ report: next.value })) {
        this.#isBlocked = true;
        this.#stream.once('drain', () => {
          this.#isBlocked = false;
          this.#write();
        });
      }
    }
    if (this.#isEnding && this.#reports.length === 0) {
      this.#isEnding = false;
      this.#stream.end();
    }
  }
}
