// Limits the distinct values of kept parameters, because strangers choose them, and each takes space in every engine.

import { describeError, log } from '../../lib/log.ts'
import { DAY_MS } from '../../lib/utc-day.ts'
import { HIT_CLASSES, HIT_OUTCOMES } from '../../storage/hits/hit.ts'
import type { HitReader } from '../../storage/hits/hit-engine.ts'
import { KEPT_VALUES_A_DAY, OTHER_VALUE, toParamColumn } from '../../storage/hits/kept-params.ts'

export interface KeptValues {
  /** @returns the value, or `OTHER_VALUE` above the limit of its day. Never waits. */
  admit(workspaceId: number, name: string, value: string, at: number): string
}

export interface KeptValuesNeeds {
  hits: Pick<HitReader, 'ask'>
  /** Distinct values of a name in a day of a workspace. */
  valuesMax?: number
  /** Distinct values of all names of all workspaces: 20 MB of memory. */
  totalMax?: number
}

const TOTAL_MAX = 500_000

interface ValuesState extends Required<KeptValuesNeeds> {
  day: number
  /** Hashes of the day's values, by workspace and name. */
  known: Map<string, Set<number>>
  total: number
}

export function createKeptValues({
  hits,
  valuesMax = KEPT_VALUES_A_DAY,
  totalMax = TOTAL_MAX,
}: KeptValuesNeeds): KeptValues {
  const state: ValuesState = { hits, valuesMax, totalMax, day: 0, known: new Map(), total: 0 }
  return {
    admit(workspaceId, name, value, at) {
      const day = Math.floor(at / DAY_MS)
      if (day > state.day) Object.assign(state, { day, known: new Map(), total: 0 })
      const key = `${workspaceId} ${name}`
      let values = state.known.get(key)
      if (values === undefined) {
        values = new Set()
        state.known.set(key, values)
        addStored(state, values, workspaceId, name).catch((error) =>
          log.warn('kept_values_not_read', describeError(error)),
        )
      }
      return add(state, values, value) ? value : OTHER_VALUE
    },
  }
}

/** @returns false if the limit is reached */
function add(state: ValuesState, values: Set<number>, value: string): boolean {
  const hash = Number(BigInt.asUintN(53, BigInt(Bun.hash(value))))
  if (values.has(hash)) return true
  if (values.size >= state.valuesMax || state.total >= state.totalMax) return false
  values.add(hash)
  state.total++
  return true
}

/** Adds the stored values of the day, so that a restart does not reset the limit. */
async function addStored(
  state: ValuesState,
  values: Set<number>,
  workspaceId: number,
  name: string,
): Promise<void> {
  const { hits, day, valuesMax } = state
  const answers = await hits.ask({
    workspaceId,
    start: day * DAY_MS,
    end: (day + 1) * DAY_MS,
    classes: [...HIT_CLASSES],
    outcomes: [...HIT_OUTCOMES],
    filters: [],
    groupBy: { by: toParamColumn(name), limit: valuesMax + 1, nullAs: OTHER_VALUE },
  })
  if (state.day !== day) return
  for (const { key } of answers) if (key !== OTHER_VALUE) add(state, values, String(key))
}
