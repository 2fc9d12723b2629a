// Sends requests from many senders at once, as fast as the server answers, and records the answers.

export interface LoadResponse {
  status: number
  headers: Headers
  /** The name of the stored thing, when the answer acknowledges one. */
  acknowledged?: string
}

export interface LoadGenerator {
  /** The names from all acknowledging answers. */
  acknowledged: string[]
  /** The number of answers with each status; 0 counts connections that ended without an answer. */
  statuses: Map<number, number>
  /** The number of 503 answers without Retry-After. */
  withoutRetryAfter: number
  stop(): Promise<void>
}

const NO_ANSWER: LoadResponse = { status: 0, headers: new Headers() }

/** @param send gets a number that is unique for each call. Without a request to send, it ends its sender: undefined. */
export function startLoadGenerator(
  senders: number,
  send: (number: number) => Promise<LoadResponse | undefined>,
): LoadGenerator {
  let next = 0
  let running = true
  const load: LoadGenerator = {
    acknowledged: [],
    statuses: new Map(),
    withoutRetryAfter: 0,
    async stop() {
      running = false
      await work
    },
  }
  async function sender() {
    while (running) {
      const response = await send(next++).catch(() => NO_ANSWER)
      if (!response) return
      const { status, headers, acknowledged } = response
      load.statuses.set(status, (load.statuses.get(status) ?? 0) + 1)
      if (acknowledged !== undefined) load.acknowledged.push(acknowledged)
      if (status === 503 && !headers.get('retry-after')) load.withoutRetryAfter++
      // A killed process refuses connections at once: do not loop without a pause.
      if (status === 0) await Bun.sleep(5)
    }
  }
  const work = Promise.all(Array.from({ length: senders }, sender))
  return load
}
