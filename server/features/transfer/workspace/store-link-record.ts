// Stores a link of an archive with its times, counters and trash state. The rules for links apply.

import { readCountryCode } from '../../../lib/country-code.ts'
import { Failure } from '../../../lib/failure.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { recordChange } from '../../../storage/database/record-change.ts'
import { toSlugColumns } from '../../links/create.ts'
import { toPurgedColumns } from '../../links/delete.ts'
import type { LinkRow } from '../../links/link.ts'
import { type LinkDomain, resolveDomain, toStoredDomain } from '../../links/names/link-domain.ts'
import { checkPeriod, toLinkColumns } from '../../links/rules.ts'
import { CreateLink, type CreateLinkInput } from '../../links/schema.ts'
import { toSearchText } from '../../links/search.ts'
import { setLinkTags } from '../../links/set-link-tags.ts'
import { isReserved, listSimilarSlugs } from '../../links/slug.ts'
import { SplitResultShape } from '../../links/split/schema.ts'
import { type ArchiveRecord, LINK_FIELDS } from '../archive/record-schemas.ts'
import { storeTotals } from '../history/click-totals.ts'
import {
  type ArchiveImport,
  IMPORTED_BEFORE,
  type RecordOutcome,
  type RecordTransaction,
  toCreated,
  toSkipped,
} from './archive-import.ts'
import { findItems, storeItemKey } from './item-keys.ts'
import { parseInput } from './parse-input.ts'
import { toDomainKey } from './store-settings.ts'

type LinkRecord = ArchiveRecord<'links.ndjson'>

export async function storeLinkRecord(
  transaction: RecordTransaction,
  record: LinkRecord,
): Promise<RecordOutcome> {
  const { run, connection } = transaction
  const item = { kind: 'link', name: `${record.domain}/${record.slug}` } as const
  const known = (await findItems(transaction, 'link', [record.id])).get(record.id)
  if (known) {
    await storeTotal(transaction, record, known.id)
    return toSkipped(item, IMPORTED_BEFORE)
  }
  const domain = await chooseLinkDomain(run, connection, record.domain)
  const input = toInput(record)
  const columns = await toColumns(transaction, input, record)
  const isGone = record.purgedAt !== null
  const isTaken = !isGone && isReserved(run.needs.site, domain.name, input.slug ?? '')
  const row = isTaken ? undefined : await insertLink(connection, columns, domain, record.slug)
  if (row) return finish(transaction, record, input, row, null)
  if (run.onConflict !== 'rename')
    return { ...toSkipped(item, 'The slug is taken or reserved here.'), isConflict: true }
  for (const slug of listSimilarSlugs(record.slug)) {
    const renamed = await insertLink(connection, columns, domain, slug)
    if (!renamed) continue
    const message = `The slug ${record.slug} is taken or reserved here: it is ${slug} now.`
    return { ...(await finish(transaction, record, input, renamed, message)), outcome: 'renamed' }
  }
  throw new Failure('conflict', 'Slug already in use')
}

/**
 * Chooses the domain of a link in an archive: the person's choice for its host; else, for a link of the default domain, the
 * default domain; else the workspace's own domain of that name. The latter can be unverified: then its links wait, like those
 * of a lost domain.
 * @throws Failure `invalid` if the chosen domain no longer exists
 */
async function chooseLinkDomain(
  run: ArchiveImport,
  connection: Connection,
  host: string,
): Promise<LinkDomain> {
  const { needs, actor, archive, domainMap } = run
  const lookup = { connection, site: needs.site }
  const typed = domainMap[host.toLowerCase()]
  if (typed !== undefined) return resolveDomain(lookup, actor, typed)
  if (host.toLowerCase() === archive.defaultDomain.toLowerCase()) return { name: '', caseSensitive: false }
  const name = toStoredDomain(needs.site, host)
  if (name === '') return { name, caseSensitive: false }
  if (name !== null) {
    const own = await connection
      .selectFrom('domains')
      .select(['domain', 'case_sensitive'])
      .where('workspace_id', '=', actor.workspaceId)
      .where('domain', '=', name)
      .executeTakeFirst()
    if (own) return { name: own.domain, caseSensitive: own.case_sensitive === 1 }
    // A domain of a dry run has no row any more, but its links are always new.
    if (run.dryRunKeys.has(toDomainKey(name))) return { name, caseSensitive: true }
  }
  throw new Failure('invalid', `The workspace has no domain ${host}`, {
    errors: { domain: `is not a domain of this workspace. Name another one for ${host} (domainMap)` },
  })
}

const toInput = (record: LinkRecord): CreateLinkInput =>
  parseInput(CreateLink, {
    ...Object.fromEntries(LINK_FIELDS.map((name) => [name, record[name]])),
    tagNames: record.tags,
    // Older versions accepted country codes that no visitor has.
    geoTargeting: Object.fromEntries(
      Object.entries(record.geoTargeting).filter(([code]) => readCountryCode(code) !== null),
    ),
  })

type NewLink = Omit<
  LinkRow,
  'id' | 'slug' | 'slug_key' | 'domain' | 'search_text' | 'suspended_at' | 'suspended_reason'
>

async function toColumns(
  { run, connection }: RecordTransaction,
  input: CreateLinkInput,
  record: LinkRecord,
): Promise<NewLink> {
  const { needs, actor } = run
  const past = (at: number) => Math.min(at, needs.now())
  const set = toLinkColumns(needs.site, input, undefined) as Omit<NewLink, 'workspace_id'>
  checkPeriod(set.starts_at, set.expires_at)
  const { splitStartedAt, splitResult } = record
  const isFree = await isExternalIdFree(connection, actor.workspaceId, set.external_id)
  return {
    ...set,
    workspace_id: actor.workspaceId,
    external_id: isFree ? set.external_id : null,
    split_started_at: set.split === null ? null : past(splitStartedAt ?? needs.now()),
    split_result:
      SplitResultShape.nullable()
        .catch(null)
        .parse(splitResult ?? null) && JSON.stringify(splitResult),
    password_hash: record.passwordProtected ? run.closedPassword : null,
    clicks_used: record.clicksUsed,
    clicks: 0,
    clicks_before: 0,
    leads: record.leads,
    last_clicked_at: record.lastClickedAt === null ? null : past(record.lastClickedAt),
    created_at: past(record.createdAt),
    updated_at: past(record.updatedAt),
    deleted_at: record.deletedAt === null ? null : past(record.deletedAt),
    ...(record.purgedAt === null ? { purged_at: null } : toPurgedColumns(past(record.purgedAt))),
  }
}

async function isExternalIdFree(connection: Connection, workspaceId: number, externalId: string | null) {
  if (externalId === null) return true
  const other = await connection
    .selectFrom('links')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('external_id', '=', externalId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return other === undefined
}

/** @returns undefined if the slug is taken, which a unique index decides */
const insertLink = (connection: Connection, columns: NewLink, domain: LinkDomain, slug: string) =>
  connection
    .insertInto('links')
    .values({ ...columns, ...toSlugColumns(domain, slug), search_text: toSearchText({ ...columns, slug }) })
    .onConflict((conflict) => conflict.doNothing())
    .returning(['id', 'domain', 'slug_key', 'updated_at', 'external_id'])
    .executeTakeFirst()

type InsertedLink = NonNullable<Awaited<ReturnType<typeof insertLink>>>

/** Stores the number of clicks without hits. The clicks of hits are counted with their hits. */
async function storeTotal(
  { run, connection }: RecordTransaction,
  { clicks }: LinkRecord,
  linkId: number,
): Promise<void> {
  const { needs, actor, importId } = run
  if (clicks === 0) return
  await storeTotals(needs.db.engine, connection, { workspaceId: actor.workspaceId, importId }, [
    [linkId, clicks],
  ])
}

async function finish(
  transaction: RecordTransaction,
  record: LinkRecord,
  input: CreateLinkInput,
  row: InsertedLink,
  renamed: string | null,
): Promise<RecordOutcome> {
  const { run, connection, onCommit } = transaction
  const { tagNames } = input
  await setLinkTags({ db: run.needs.db, connection }, run.actor, row.id, { tagNames }, run.needs.now())
  // Caches may have the slug as unknown.
  recordChange(onCommit, { domain: row.domain, slugKey: row.slug_key })
  await storeItemKey(transaction, 'link', record.id, row.id)
  await storeTotal(transaction, record, row.id)
  const notes = [
    ...(renamed === null ? [] : [renamed]),
    ...(record.passwordProtected ? ['Its password is unknown: set a new one.'] : []),
    ...(row.external_id === record.externalId || record.purgedAt !== null
      ? []
      : [`Another link has the external id ${record.externalId}: it came without one.`]),
  ]
  const item = { kind: 'link', name: `${record.domain}/${record.slug}` } as const
  const created = toCreated(item, row, notes.length > 0 ? notes.join(' ') : null)
  // An undo must recognize later leads.
  return record.leads === 0 ? created : { ...created, field: 'leads', value: String(record.leads) }
}
