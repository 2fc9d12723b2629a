// Stores a view of an archive. Its filters name links, tags, forms and domains of another server, which become those of this
// server.

import { splitFilter, writeFilter } from '../../../storage/filter-grammar.ts'
import { allow } from '../../accounts/access/actor.ts'
import { requireRoom } from '../../accounts/access/workspace-limits.ts'
import { recordAudit } from '../../accounts/audit/record-audit.ts'
import { toStoredDomain } from '../../links/names/link-domain.ts'
import { CreateView } from '../../views/schema.ts'
import { NEW_VIEW, toViewColumns } from '../../views/view-columns.ts'
import type { ArchiveRecord } from '../archive/record-schemas.ts'
import {
  type ArchiveImport,
  IMPORTED_BEFORE,
  type RecordOutcome,
  type RecordTransaction,
  toCreated,
  toSkipped,
} from './archive-import.ts'
import { findItems, isFromDryRun, isOwnExport, listRowIds, storeItemKey } from './item-keys.ts'
import { parseInput } from './parse-input.ts'

/** Without its shared page, reports and alerts: their addresses and channels belong to the old server. */
export async function storeView(
  transaction: RecordTransaction,
  record: ArchiveRecord<'views.ndjson'>,
): Promise<RecordOutcome> {
  const { run, connection } = transaction
  const { actor, needs } = run
  allow(actor, 'views:write')
  const item = { kind: 'view', name: record.name } as const
  const { id, createdAt, updatedAt, ...settings } = record
  // Exports of older releases have no id.
  const key = id ?? `${createdAt}:${Bun.hash.crc32(record.name)}`
  if ((await findItems(transaction, 'view', [key])).size > 0) return toSkipped(item, IMPORTED_BEFORE)
  const isOwn = await isOwnExport(transaction)
  if (isOwn && id !== undefined && (await listRowIds(transaction, 'view', [id])).length > 0)
    return toSkipped(item, 'The workspace has this view.')
  const filters: Record<string, string> = {}
  for (const [name, written] of Object.entries(settings.filters)) {
    const mapped = await mapFilter(transaction, name, written)
    if (typeof mapped !== 'string')
      return {
        ...toSkipped(item, `Its filter names a ${mapped.kind} that is not here.`),
        field: `filters.${name}`,
        value: mapped.missing,
      }
    filters[name] = mapped
  }
  const now = needs.now()
  const input = parseInput(CreateView, { ...settings, filters })
  const row = await connection
    .insertInto('views')
    .values({
      ...toViewColumns(NEW_VIEW, input, { passwordHash: null, now }),
      workspace_id: actor.workspaceId,
      user_id: actor.kind === 'user' ? actor.userId : null,
      name: input.name,
      created_at: Math.min(createdAt, now),
      updated_at: Math.min(updatedAt, now),
    })
    .returning(['id', 'updated_at'])
    .executeTakeFirstOrThrow()
  await requireRoom(connection, actor.workspaceId, 'views')
  await storeItemKey(transaction, 'view', key, row.id)
  const target = { type: 'view', id: row.id, name: input.name } as const
  await recordAudit(connection, actor, { action: 'view.created', target, detail: { shared: false } }, now)
  return toCreated(item, row)
}

/** The kind of item in a filter. */
const FILTER_KINDS = new Map([
  ['linkId', 'link'],
  ['tagId', 'tag'],
  ['form', 'form'],
] as const)
type FilterKind = 'link' | 'tag' | 'form'

interface MissingItem {
  kind: FilterKind
  /** Its name in the archive. */
  missing: string
}

/** Values for leads without a link, and without a form. */
const NOTHING_NAMES = new Set(['0', 'Unknown'])

/** @returns the filter with the names of this server, or the first missing item */
async function mapFilter(
  transaction: RecordTransaction,
  name: string,
  written: string,
): Promise<string | MissingItem> {
  const split = splitFilter([written])
  // The check of the view reports the mistake.
  if (typeof split === 'string') return written
  if (name === 'domain')
    return writeFilter({ ...split, texts: split.texts.map((host) => mapDomain(transaction.run, host)) })
  const kind = FILTER_KINDS.get(name as 'linkId')
  if (kind === undefined) return written
  const named = split.texts.map((text) => (kind === 'form' ? text : text.replace(/^0+(?=\d)/, '')))
  const names = await findNames(transaction, kind, [...new Set(named)])
  const missing = named.find((text) => !names.has(text))
  if (missing !== undefined) return { kind, missing }
  return writeFilter({ ...split, texts: named.map((text) => names.get(text) ?? '') })
}

/** The names on this server, by those in the archive. */
async function findNames(
  transaction: RecordTransaction,
  kind: FilterKind,
  named: string[],
): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  const known = await findItems(transaction, kind, named)
  // The workspace's own links are not imported again.
  const isOwn = kind === 'link' && known.size < named.length && (await isOwnExport(transaction))
  const own = isOwn
    ? new Set(await listRowIds(transaction, kind, named.map(Number).filter(Number.isSafeInteger)))
    : undefined
  const keys = kind === 'form' ? await listFormKeys(transaction, [...known.values()]) : undefined
  for (const name of named) {
    const id = known.get(name)?.id
    const found = id === undefined ? undefined : keys ? keys.get(id) : String(id)
    // A dry run has no rows any more, and stores no view that names them.
    if (found !== undefined) names.set(name, found)
    else if (NOTHING_NAMES.has(name) || own?.has(Number(name)) || isFromDryRun(transaction.run, kind, name))
      names.set(name, name)
  }
  return names
}

async function listFormKeys(
  { run, connection }: RecordTransaction,
  known: { id: number }[],
): Promise<Map<number, string>> {
  if (known.length === 0) return new Map()
  const rows = await connection
    .selectFrom('forms')
    .select(['id', 'form_key'])
    .where('workspace_id', '=', run.actor.workspaceId)
    .where(
      'id',
      'in',
      known.map(({ id }) => id),
    )
    .execute()
  return new Map(rows.map(({ id, form_key }) => [id, form_key]))
}

/** The domain that got the links of this one. */
function mapDomain({ needs, archive, domainMap }: ArchiveImport, host: string): string {
  const typed = domainMap[host.toLowerCase()]
  if (typed !== undefined) return toStoredDomain(needs.site, typed) || needs.site.domain
  return host.toLowerCase() === archive.defaultDomain.toLowerCase() ? needs.site.domain : host
}
