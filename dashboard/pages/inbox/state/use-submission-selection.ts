// The submissions that are selected for a bulk change. They can be more than the loaded ones.

import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { Submission, SubmissionState, SubmissionStatus } from '../../../api/submissions.ts'

type States = ReadonlyMap<number, SubmissionStatus>

const NONE: States = new Map()

export type SubmissionSelection = ReturnType<typeof useSubmissionSelection>

/**
 * @param rows the loaded list, in its order: a range has all rows between two
 * @param filterKey a text that changes with the filter, which ends the selection
 */
export function useSubmissionSelection(rows: Submission[], filterKey: string) {
  const [states, setStates] = useState(NONE)
  /** A range starts at the last selected row, and is added to the selection. */
  const anchor = useRef<{ id: number; states: States }>(undefined)
  const latest = useRef({ rows, states })
  latest.current = { rows, states }
  const clear = useCallback(() => {
    anchor.current = undefined
    setStates(NONE)
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter shows other submissions
  useEffect(clear, [filterKey])
  useDropVanished(rows, setStates)
  const toggle = useCallback((id: number) => {
    const { rows, states } = latest.current
    const next = new Map(states)
    const row = rows.find((each) => each.id === id)
    if (!next.delete(id) && row) next.set(id, row.status)
    anchor.current = { id, states: next }
    setStates(next)
  }, [])
  /** Selects from the last selected row, or else from `fallback`, up to this row. */
  const selectUpTo = useCallback((id: number, fallback = id) => {
    const { rows, states } = latest.current
    anchor.current ??= { id: fallback, states }
    const places = [anchor.current.id, id].map((end) => rows.findIndex((each) => each.id === end))
    const [from = -1, to = -1] = places.sort((a, b) => a - b)
    const range = from === -1 ? rows.filter((each) => each.id === id) : rows.slice(from, to + 1)
    setStates(new Map([...anchor.current.states, ...range.map(({ id, status }) => [id, status] as const)]))
  }, [])
  const select = useCallback((submissions: SubmissionState[]) => {
    anchor.current = undefined
    setStates(new Map(submissions.map(({ id, status }) => [id, status])))
  }, [])
  const selectLoaded = useCallback(() => select(latest.current.rows), [select])
  const selected = useMemo((): SubmissionState[] => {
    const current = new Map(states.size > 0 ? rows.map(({ id, status }) => [id, status]) : [])
    return [...states].map(([id, status]) => ({ id, status: current.get(id) ?? status }))
  }, [states, rows])
  return { states, selected, toggle, selectUpTo, select, selectLoaded, clear }
}

/** Deselects submissions that leave the list, and keeps those that were never loaded. */
function useDropVanished(rows: Submission[], setStates: (update: (states: States) => States) => void) {
  const previous = useRef(rows)
  useEffect(() => {
    const present = new Set(rows.map(({ id }) => id))
    const vanished = previous.current.filter(({ id }) => !present.has(id))
    previous.current = rows
    if (vanished.length === 0) return
    setStates((states) => {
      if (!vanished.some(({ id }) => states.has(id))) return states
      const gone = new Set(vanished.map(({ id }) => id))
      return new Map([...states].filter(([id]) => !gone.has(id)))
    })
  }, [rows, setStates])
}
