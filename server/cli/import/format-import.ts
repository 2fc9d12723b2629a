// Formats the operator's report at the end of an import, and of an undo.

import type { Config } from '../../config/config.ts'
import type { ImportResource } from '../../features/transfer/schema.ts'
import { CommandError } from '../command.ts'

const SHOWN_MAX = 10

const count = (n: number, one: string, many = `${one}s`) =>
  `${n.toLocaleString('en')} ${n === 1 ? one : many}`

/** @throws CommandError where the import has failed */
export function formatImport({ origin }: Pick<Config, 'origin'>, done: ImportResource): string {
  if (done.problem !== null) throw new CommandError(`Import ${done.id} has failed. ${done.problem}`)
  const { created, renamed, skipped, failed, clicks, rows, source } = done
  const opening = done.dryRun ? `Dry run ${done.id}: nothing is changed.` : `Import ${done.id} is done.`
  return [
    `${opening} Of ${count(rows, 'row')}:`,
    `  ${count(created, source === 'towpath' ? 'item' : 'link')} created${renamed === 0 ? '' : `, ${renamed.toLocaleString('en')} of them with another slug`}`,
    `  ${skipped.toLocaleString('en')} skipped`,
    `  ${failed.toLocaleString('en')} failed`,
    `  ${count(clicks, 'click')} of their history`,
    ...done.notices,
    ...formatErrors(origin, done),
    ...(done.dryRun ? [] : [`Take it back until ${done.undoableUntil?.slice(0, 10)}: --undo ${done.id}`]),
  ].join('\n')
}

function formatErrors(origin: string, { id, errors }: ImportResource): string[] {
  if (errors.length === 0) return []
  const lines = errors.slice(0, SHOWN_MAX).map(({ row, field, value, message }) => {
    const place = field === null ? `row ${row}` : `row ${row}, ${field}`
    return `  ${place}: ${message}${value === null ? '' : ` (${JSON.stringify(value)})`}`
  })
  return ['Errors:', ...lines, `All errors as CSV: ${origin}/v1/imports/${id}/errors`]
}

export function formatUndo({ id, kept, problem, status }: ImportResource): string {
  if (status !== 'undone') throw new CommandError(`Import ${id} is not taken back. ${problem ?? ''}`.trim())
  if (kept.length === 0) return `Import ${id} is taken back: nothing of it is left.`
  return [
    `Import ${id} is taken back, but for ${count(kept.length, 'thing')}:`,
    ...kept.slice(0, SHOWN_MAX).map(({ kind, name, reason }) => `  ${kind} ${name}: ${reason}`),
    ...(kept.length > SHOWN_MAX ? [`  … and ${count(kept.length - SHOWN_MAX, 'other')}`] : []),
  ].join('\n')
}
