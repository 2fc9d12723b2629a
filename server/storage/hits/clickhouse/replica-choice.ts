// Chooses the server of a call. All nodes read from and insert into the first server that answers and has no replication
// delay. So an answer has every batch that any node has loaded, without waiting for replication.

import type { ClickHouseAddress } from './address.ts'
import { ClickHouseError } from './clickhouse-error.ts'

/** Lifetime of a choice. After that, an earlier server in the list may be back. */
const CHOICE_MS = 5000
const PROBE_TIMEOUT_MS = 5000

/** Without replicated tables there is one row of zeros. */
const DELAY = `SELECT ifNull(max(absolute_delay), 0), ifNull(max(inserts_in_queue), 0) FROM system.replicas
  WHERE database = currentDatabase()`

type Select = (address: ClickHouseAddress, sql: string, call: { timeoutMs: number }) => Promise<unknown[][]>

export interface ReplicaChoice {
  /**
   * Runs work at the chosen server. If that server is unavailable, the next call chooses again.
   * @param isRepeatable work with an unknown result runs again at the next server
   */
  run<T>(work: (address: ClickHouseAddress) => Promise<T>, isRepeatable: boolean): Promise<T>
}

interface ChoiceState {
  readonly addresses: ClickHouseAddress[]
  readonly select: Select
  readonly choiceMs: number
  chosen: { address: ClickHouseAddress; at: number } | undefined
  choosing: Promise<ClickHouseAddress> | undefined
}

export function createReplicaChoice(
  addresses: ClickHouseAddress[],
  select: Select,
  choiceMs = CHOICE_MS,
): ReplicaChoice {
  const [only] = addresses
  if (addresses.length === 1 && only) return { run: (work) => work(only) }
  const state: ChoiceState = { addresses, select, choiceMs, chosen: undefined, choosing: undefined }
  return { run: (work, isRepeatable) => runAtChosen(state, work, isRepeatable) }
}

async function runAtChosen<T>(
  state: ChoiceState,
  work: (address: ClickHouseAddress) => Promise<T>,
  isRepeatable: boolean,
): Promise<T> {
  for (let left = state.addresses.length; ; left--) {
    const address = await chooseAddress(state)
    try {
      return await work(address)
    } catch (error) {
      const isAway = error instanceof ClickHouseError && error.isAway
      if (isAway) state.chosen = undefined
      if (!isAway || left === 1 || !(isRepeatable || error.isUnsent)) throw error
    }
  }
}

function chooseAddress(state: ChoiceState): Promise<ClickHouseAddress> {
  if (state.chosen && performance.now() - state.chosen.at < state.choiceMs)
    return Promise.resolve(state.chosen.address)
  state.choosing ??= probe(state).finally(() => {
    state.choosing = undefined
  })
  return state.choosing
}

/** @throws the failure of the last server when none answers */
async function probe(state: ChoiceState): Promise<ClickHouseAddress> {
  let delayed: ClickHouseAddress | undefined
  let failure: unknown
  for (const address of state.addresses) {
    try {
      const [delays = []] = await state.select(address, DELAY, { timeoutMs: PROBE_TIMEOUT_MS })
      if (delays.every((delay) => Number(delay) === 0)) return choose(state, address)
      delayed ??= address
    } catch (error) {
      failure = error
    }
  }
  if (delayed) return choose(state, delayed)
  throw failure
}

function choose(state: ChoiceState, address: ClickHouseAddress): ClickHouseAddress {
  state.chosen = { address, at: performance.now() }
  return address
}
