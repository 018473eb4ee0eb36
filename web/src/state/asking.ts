// Asks one question over and over: never twice at once, so that every answer arrives, however slow it is.

export type Answer<T> = { data: T } | { error: unknown };

export class Asking<T> {
  private readonly control = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private began = -Infinity;
  private busy = false;
  private wanted = false;

  /** `request` is begun at most every `atMost` milliseconds. */
  constructor(
    private readonly request: (signal: AbortSignal) => Promise<T>,
    private readonly heard: (answer: Answer<T>) => void,
    private readonly atMost: number,
  ) {}

  /** Ask (again), as soon as the request under way has ended. */
  again(): void {
    this.wanted = true;
    if (this.busy || this.timer !== undefined) return;
    this.timer = setTimeout(() => void this.ask(), Math.max(0, this.began + this.atMost - Date.now()));
  }

  /** Ask no more, and hear nothing of what is under way. */
  close(): void {
    clearTimeout(this.timer);
    this.control.abort();
  }

  private async ask(): Promise<void> {
    this.timer = undefined;
    this.wanted = false;
    this.busy = true;
    this.began = Date.now();
    const answer = await this.request(this.control.signal).then((data) => ({ data }), (error: unknown) => ({ error }));
    if (this.control.signal.aborted) return;
    this.busy = false;
    this.heard(answer);
    if (this.wanted) this.again();
  }
}
