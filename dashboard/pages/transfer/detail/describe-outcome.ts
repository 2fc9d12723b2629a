// Sums up an import that has ended, in a sentence or two.

import type { ImportResource } from '../../../api/transfer/imports.ts'
import { formatCount, formatDay } from '../../../ui/format.ts'
import { canUndo, countItems, isCanceled } from '../import-state.ts'

interface Outcome {
  kind: 'done' | 'tried' | 'undone' | 'canceled' | 'failed'
  title: string
  text: string
}

export function describeOutcome(item: ImportResource): Outcome {
  const { status, dryRun, created } = item
  if (status === 'failed')
    return { kind: 'failed', title: toFailureTitle(item), text: item.problem ?? 'The import has failed.' }
  if (isCanceled(item)) return { kind: 'canceled', title: 'Canceled', text: 'Nothing has changed.' }
  if (status === 'undone') return { kind: 'undone', title: 'The import is undone', text: describeUndo(item) }
  if (!dryRun)
    return { kind: 'done', title: `${countItems(item, created)} imported`, text: describeRest(item) }
  return {
    kind: 'tried',
    title: created > 0 ? `${countItems(item, created)} would be created` : 'Nothing would be created',
    text: 'This was a dry run: nothing has changed yet.',
  }
}

function toFailureTitle({ dryRun, created }: ImportResource): string {
  if (dryRun) return 'This can’t be imported'
  return created > 0 ? 'The import has stopped early' : 'Nothing was imported'
}

function describeUndo(item: ImportResource): string {
  const when = item.undoneAt ? `Undone on ${formatDay(item.undoneAt)}. ` : ''
  return item.kept.length > 0
    ? `${when}${countItems(item, item.kept.length)} stayed: see the reasons below.`
    : `${when}Everything that it had created is gone.`
}

function describeRest(item: ImportResource): string {
  const leftOut = item.skipped + item.failed
  const sentences = [
    leftOut > 0 && `${formatCount(leftOut, 'row was', 'rows were')} left out: see the reasons below.`,
    canUndo(item) && item.undoableUntil && `You can undo this until ${formatDay(item.undoableUntil)}.`,
  ]
  return sentences.filter(Boolean).join(' ')
}
