// The state of an import in words, and its figures.

import { type ImportResource, isUnderway } from '../../api/transfer/imports.ts'
import { formatCount, formatNumber, formatPercent } from '../../ui/format.ts'

interface ImportState {
  label: string
  tone: 'neutral' | 'good' | 'warn' | 'bad'
}

export function toImportState(item: ImportResource): ImportState {
  if (item.status === 'queued') return { label: 'Waiting', tone: 'neutral' }
  if (isUnderway(item))
    return {
      label: item.stage === 'undo' ? 'Undoing' : `Running, ${formatWholePercent(item.progress)}`,
      tone: 'neutral',
    }
  if (item.status === 'failed') return { label: 'Failed', tone: 'bad' }
  if (item.status === 'undone') return { label: isCanceled(item) ? 'Canceled' : 'Undone', tone: 'neutral' }
  if (item.dryRun) return { label: 'Dry run', tone: 'neutral' }
  return item.failed > 0 ? { label: 'Done, with errors', tone: 'warn' } : { label: 'Done', tone: 'good' }
}

/** Without tenths, which would change on every poll. */
export const formatWholePercent = (part: number) => formatPercent(Math.floor(part * 100) / 100)

/** `12 created, 1 skipped, 3,400 clicks`: what there is of it. */
export function toFiguresText(item: ImportResource): string {
  const { created, renamed, skipped, failed, clicks } = item
  if (item.status === 'queued' || isCanceled(item)) return 'Nothing has changed'
  const figures = [
    created > 0 &&
      (item.dryRun ? `${formatNumber(created)} would be created` : `${formatNumber(created)} created`),
    renamed > 0 && `${formatNumber(renamed)} of them renamed`,
    skipped > 0 && `${formatNumber(skipped)} skipped`,
    failed > 0 && formatCount(failed, 'error'),
    clicks > 0 && formatCount(clicks, 'click'),
  ].filter((text) => text !== false)
  return figures.join(', ') || 'Nothing to import'
}

/** It was ended before it had an effect. */
export const isCanceled = ({ status, dryRun, startedAt }: ImportResource) =>
  status === 'undone' && (dryRun || startedAt === null)

/** An import that has failed may have created something before. */
export const canUndo = (item: ImportResource, now = Date.now()) =>
  !item.dryRun &&
  (item.status === 'done' || item.status === 'failed') &&
  item.created + item.clicks > 0 &&
  item.undoableUntil !== null &&
  Date.parse(item.undoableUntil) > now

/** `12 links`. A workspace has more than links. */
export function countItems({ source }: ImportResource, n: number): string {
  if (source === 'submissions') return formatCount(n, 'submission')
  return source === 'towpath' ? formatCount(n, 'item') : formatCount(n, 'link')
}
