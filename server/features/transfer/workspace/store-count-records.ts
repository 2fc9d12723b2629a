// Stores the counts of an archive: attempts to send forms, and requests for unknown slugs. An existing count does not change, so a
// repeated import adds nothing.

import { isFirstWorkspace } from '../../accounts/workspaces/first-workspace.ts'
import type { ArchiveRecord } from '../archive/record-schemas.ts'
import type { RecordTransaction } from './archive-import.ts'
import { findItems } from './item-keys.ts'

const HOUR_MS = 60 * 60_000

export async function storeAttempts(
  transaction: RecordTransaction,
  { formKey, day, outcome, field, attempts }: ArchiveRecord<'attempts.ndjson'>,
): Promise<void> {
  const form = (await findItems(transaction, 'form', [formKey])).get(formKey)
  if (!form) return
  await transaction.connection
    .insertInto('form_attempts')
    .values({ form_id: form.id, day, outcome, field, attempts })
    .onConflict((conflict) => conflict.columns(['form_id', 'day', 'outcome', 'field']).doNothing())
    .execute()
}

/** Counts of the default domain are imported into the first workspace only, which is the one that sees them. */
export async function storeMiss(
  { run, connection }: RecordTransaction,
  { domain, hour, slug, hits, visitors, bots, lastAt }: ArchiveRecord<'misses.ndjson'>,
): Promise<void> {
  const { actor, archive, needs } = run
  const isDefault = domain.toLowerCase() === archive.defaultDomain.toLowerCase()
  if (hour % HOUR_MS !== 0 || hour > needs.now()) return
  const isOurs = isDefault
    ? await isFirstWorkspace(connection, actor.workspaceId)
    : await isOwn(run, connection, domain)
  if (!isOurs) return
  await connection
    .insertInto('misses')
    .values({
      domain: isDefault ? '' : domain,
      workspace_id: isDefault ? 0 : actor.workspaceId,
      hour,
      slug,
      hits,
      visitors,
      bots,
      last_at: lastAt,
    })
    .onConflict((conflict) => conflict.columns(['domain', 'hour', 'slug']).doNothing())
    .execute()
}

type Reader = RecordTransaction['connection']

async function isOwn(
  { actor }: RecordTransaction['run'],
  connection: Reader,
  domain: string,
): Promise<boolean> {
  const row = await connection
    .selectFrom('domains')
    .select('id')
    .where('workspace_id', '=', actor.workspaceId)
    .where('domain', '=', domain)
    .executeTakeFirst()
  return row !== undefined
}
