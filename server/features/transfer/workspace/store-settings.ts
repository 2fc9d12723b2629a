// Stores the tags, domains, channels and forms of an archive, which links and submissions refer to.

import { invalid } from '../../../lib/failure.ts'
import { foldCase } from '../../../lib/text.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { requireRoom } from '../../accounts/access/workspace-limits.ts'
import { recordAudit } from '../../accounts/audit/record-audit.ts'
import { storeBrand } from '../../accounts/brand/store-brand.ts'
import { CreateForm } from '../../forms/schema.ts'
import { refuseBlockedTargets, toFormColumns } from '../../forms/settings/change-form.ts'
import { insertForm } from '../../forms/settings/insert-form.ts'
import { createDomainIn } from '../../links/domains/create-domain.ts'
import { CreateDomain } from '../../links/domains/schema.ts'
import { CreateTag } from '../../links/schema.ts'
import { requireRoomForPin } from '../../links/tags/tag.ts'
import { ImportedChannel } from '../../notify/schema.ts'
import type { ArchiveRecord } from '../archive/record-schemas.ts'
import {
  IMPORTED_BEFORE,
  type RecordOutcome,
  type RecordTransaction,
  toCreated,
  toSkipped,
} from './archive-import.ts'
import { findItems, storeItemKey } from './item-keys.ts'
import { parseInput } from './parse-input.ts'

export async function storeTag(
  transaction: RecordTransaction,
  record: ArchiveRecord<'tags.ndjson'>,
): Promise<RecordOutcome> {
  const { run, connection } = transaction
  const { name, color } = parseInput(CreateTag, { name: record.name, color: record.color })
  const pinned = Number(record.pinned ?? false)
  const item = { kind: 'tag', name } as const
  const { workspaceId } = run.actor
  const row = await connection
    .insertInto('tags')
    .values({
      workspace_id: workspaceId,
      name,
      name_key: foldCase(name),
      color: color ?? 'gray',
      pinned,
      created_at: Math.min(record.createdAt, run.needs.now()),
    })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'name_key']).doNothing())
    .returning(['id', 'created_at as updated_at'])
    .executeTakeFirst()
  const { id } = row ?? (await getTagId(connection, workspaceId, name))
  // Views name the tag by its id. An earlier import may have stored it.
  if (record.id !== undefined && !(await findItems(transaction, 'tag', [record.id])).has(record.id))
    await storeItemKey(transaction, 'tag', record.id, id)
  if (!row) return toSkipped(item, 'The workspace has a tag of this name.')
  await requireRoom(connection, workspaceId, 'tags')
  if (pinned === 1) await requireRoomForPin(connection, run.actor)
  // An undo must recognize a change of the color.
  return { ...toCreated(item, row), field: 'color', value: color ?? 'gray' }
}

const getTagId = (connection: Connection, workspaceId: number, name: string) =>
  connection
    .selectFrom('tags')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('name_key', '=', foldCase(name))
    .executeTakeFirstOrThrow()

export const toDomainKey = (domain: string) => `domain:${domain}`

/** Stores the domain as unverified: it does not answer before its DNS has proven it here. */
export async function storeDomain(
  { run, connection }: RecordTransaction,
  record: ArchiveRecord<'domains.ndjson'>,
): Promise<RecordOutcome> {
  const { primary, createdAt, ...settings } = record
  const item = { kind: 'domain', name: record.domain } as const
  const input = parseInput(CreateDomain, settings)
  const own = await connection
    .selectFrom('domains')
    .select('case_sensitive')
    .where('workspace_id', '=', run.actor.workspaceId)
    .where('domain', '=', record.domain)
    .executeTakeFirst()
  if (own) {
    const isOther = (own.case_sensitive === 1) !== record.caseSensitive
    const note = isOther ? ' It takes the case of letters in slugs otherwise than the export.' : ''
    return toSkipped(item, `The workspace has this domain.${note}`)
  }
  const row = await createDomainIn({ ...run.needs, connection }, run.actor, input)
  await connection
    .updateTable('domains')
    .set({ created_at: Math.min(createdAt, row.created_at) })
    .where('workspace_id', '=', run.actor.workspaceId)
    .where('id', '=', row.id)
    .execute()
  if (run.isDryRun) run.dryRunKeys.add(toDomainKey(row.domain))
  const again = primary ? ' It was the domain of new links: choose it again then.' : ''
  return toCreated(item, row, `It answers once its DNS records are set: its page shows them.${again}`)
}

const NEEDS_SECRET = 'It came without its secret: enter it, and enable the channel.'

/** A channel without its secret, which is not exported, is off. A channel that needs none is on, and its recipients confirm again. */
export async function storeChannel(
  transaction: RecordTransaction,
  record: ArchiveRecord<'channels.ndjson'>,
): Promise<RecordOutcome> {
  const { run, connection } = transaction
  const { actor, needs } = run
  const item = { kind: 'channel', name: record.name } as const
  if ((await findItems(transaction, 'channel', [record.id])).size > 0) return toSkipped(item, IMPORTED_BEFORE)
  const { name, type } = parseInput(ImportedChannel, {
    name: record.name,
    type: record.type,
  })
  const isMail = type === 'email'
  if (isMail && record.to.length === 0) throw invalid({ to: 'must have a recipient' })
  const row = await connection
    .insertInto('channels')
    .values({
      workspace_id: actor.workspaceId,
      type,
      name,
      recipients: JSON.stringify(isMail ? record.to.map((address) => address.toLowerCase()) : []),
      shown_url: isMail ? null : record.url,
      chat_id: record.chatId,
      enabled: Number(isMail && record.enabled),
      disabled_reason: isMail ? null : NEEDS_SECRET,
      created_at: Math.min(record.createdAt, needs.now()),
      updated_at: Math.min(record.updatedAt, needs.now()),
    })
    .returning(['id', 'updated_at'])
    .executeTakeFirstOrThrow()
  await requireRoom(connection, actor.workspaceId, 'channels')
  await storeItemKey(transaction, 'channel', record.id, row.id)
  const target = { type: 'channel', id: row.id, name } as const
  await recordAudit(connection, actor, { action: 'channel.created', target, detail: { type } }, needs.now())
  return toCreated(item, row, isMail ? 'Its recipients must confirm again.' : NEEDS_SECRET)
}

/**
 * A form keeps its key if no form of this server has it and no other workspace ever had it. Then pages that post to it need no
 * change.
 */
export async function storeForm(
  transaction: RecordTransaction,
  record: ArchiveRecord<'forms.ndjson'>,
): Promise<RecordOutcome> {
  const { run, connection } = transaction
  const { actor, needs } = run
  const item = { kind: 'form', name: record.name } as const
  if ((await findItems(transaction, 'form', [record.formKey])).size > 0)
    return toSkipped(item, IMPORTED_BEFORE)
  const { formKey, createdAt, updatedAt, channelIds, ...settings } = record
  const channels = await findItems(transaction, 'channel', channelIds)
  const input = parseInput(CreateForm, {
    ...settings,
    channelIds: [...channels.values()].map(({ id }) => id),
  })
  refuseBlockedTargets(needs.site, input)
  const at = needs.now()
  const { workspaceId } = actor
  const brand = await storeBrand(connection, { workspaceId, before: null, input: input.brand, at })
  const columns = {
    ...toFormColumns(input),
    name: input.name,
    brand: brand ?? null,
    workspace_id: actor.workspaceId,
    created_at: Math.min(createdAt, needs.now()),
    updated_at: Math.min(updatedAt, needs.now()),
  }
  const row = await insertForm(connection, columns, formKey)
  await requireRoom(connection, actor.workspaceId, 'forms')
  await storeItemKey(transaction, 'form', formKey, row.id)
  if (row.form_key === formKey) return toCreated(item, row)
  const message = `The key ${formKey} belongs to another form or workspace of this server, or did once: the new one is ${row.form_key}. Change the address in your page.`
  return { ...toCreated(item, row, message), outcome: 'renamed' }
}
