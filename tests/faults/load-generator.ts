// Many senders at once, as fast as the server takes them, and what each was told.

export interface LoadResponse {
  status: number
  headers: Headers
  /** The name of what this answer says is stored. */
  acknowledged?: string
}

export interface LoadGenerator {
  /** Names of what was acknowledged. */
  acknowledged: string[]
  /** How often each status was seen; 0 is a connection that ended without an answer. */
  statuses: Map<number, number>
  /** Failures that said nothing about when to try again. */
  withoutRetryAfter: number
  stop(): Promise<void>
}

/** @param send is given a number that no other call is given */
export function startLoadGenerator(
  senders: number,
  send: (number: number) => Promise<LoadResponse>,
): LoadGenerator {
  let next = 0
  let going = true
  const load: LoadGenerator = {
    acknowledged: [],
    statuses: new Map(),
    withoutRetryAfter: 0,
    async stop() {
      going = false
      await work
    },
  }
  async function sender() {
    while (going) {
      const told = await send(next++).catch(() => undefined)
      const status = told?.status ?? 0
      load.statuses.set(status, (load.statuses.get(status) ?? 0) + 1)
      if (told?.acknowledged !== undefined) load.acknowledged.push(told.acknowledged)
      if (status === 503 && !told?.headers.get('retry-after')) load.withoutRetryAfter++
      // A process that is gone refuses at once.
      if (status === 0) await Bun.sleep(5)
    }
  }
  const work = Promise.all(Array.from({ length: senders }, sender))
  return load
}
