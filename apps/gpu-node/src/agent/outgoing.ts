import { type AttachRequest, type FoundAnswer, splitAnswer } from '@halogrid/proto';

type Message = NonNullable<AttachRequest['report']>;

/** What the node reports; an answer may be several messages. */
export type OutgoingReport =
  | Exclude<Message, { $case: 'completed' | 'part' }>
  | { $case: 'completed'; value: FoundAnswer };

/** What takes messages, as streams do: `write` is false where no more are to come before the next 'drain'. */
export interface MessageStream {
  write(message: AttachRequest): boolean;
  end(): void;
  once(event: 'drain', listener: () => void): unknown;
}

/**
 * Reports on their way, in their order. A long answer is made into messages as the stream takes them: it waits as the
 * counts that it has, and not as bytes beside them.
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
