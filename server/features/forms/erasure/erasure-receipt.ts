// The receipt of an erasure: a row that counts the deleted data while it runs, and proves the erasure afterwards
// without the address.

import { createHmac } from 'node:crypto'
import { type Selectable, sql } from 'kysely'
import { toIso } from '../../../lib/iso-time.ts'
import type { Page } from '../../../lib/pagination.ts'
import { listNewest } from '../../../storage/database/list-newest.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { ErasureReceipts } from '../../../storage/database/tables/form-tables.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import { createAddressHasher } from '../replies/mailbox.ts'
import type { ErasureListQueryInput, ErasureResource, ReceiptResource } from './schema.ts'

/** The hash reveals nothing without the server's secret, and differs between workspaces. */
export type ReceiptHasher = (workspaceId: number, email: string) => string

/** @param secret `TOWPATH_SECRET` */
const createReceiptHasher =
  (secret: string): ReceiptHasher =>
  (workspaceId, email) =>
    createHmac('sha256', secret)
      .update(`towpath erasure receipt ${workspaceId} ${email.toLowerCase()}`)
      .digest('base64url')

/** Keyed hashes of persons, made from the server's secret. */
export const createPersonHashers = (secret: string) => ({
  hashReceipt: createReceiptHasher(secret),
  hashAddress: createAddressHasher(secret),
})

export type ErasedCounts = Pick<
  Selectable<ErasureReceipts>,
  'submissions' | 'files' | 'deliveries' | 'replies'
>

interface ReceiptOwner {
  workspaceId: number
  emailHash: string
}

/** Continues the receipt of an interrupted erasure. @returns its id */
export async function beginReceipt(
  connection: Connection,
  { workspaceId, emailHash }: ReceiptOwner,
  now: number,
): Promise<number> {
  const open = await connection
    .selectFrom('erasure_receipts')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('email_hash', '=', emailHash)
    .where('finished_at', 'is', null)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  if (open) return open.id
  const begun = await connection
    .insertInto('erasure_receipts')
    .values({ workspace_id: workspaceId, email_hash: emailHash, started_at: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  return begun.id
}

export async function addToReceipt(
  connection: Connection,
  { workspaceId, id }: { workspaceId: number; id: number },
  counts: ErasedCounts,
): Promise<void> {
  await connection
    .updateTable('erasure_receipts')
    .set((e) => ({
      submissions: e('submissions', '+', counts.submissions),
      files: e('files', '+', counts.files),
      deliveries: e('deliveries', '+', counts.deliveries),
      replies: e('replies', '+', counts.replies),
    }))
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute()
}

/** Two requests may erase one address together: the first that finds nothing more ends it. */
export async function endReceipt(
  connection: Connection,
  { workspaceId, id }: { workspaceId: number; id: number },
  now: number,
): Promise<Selectable<ErasureReceipts>> {
  return connection
    .updateTable('erasure_receipts')
    .set({ finished_at: sql<number>`coalesce(finished_at, ${now})` })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export const toReceipt = (row: Selectable<ErasureReceipts>): ErasureResource['receipt'] => ({
  id: row.id,
  at: toIso(row.finished_at ?? row.started_at),
  submissions: row.submissions,
  files: row.files,
  deliveries: row.deliveries,
  replies: row.replies,
})

const toReceiptResource = (row: Selectable<ErasureReceipts>): ReceiptResource => ({
  ...toReceipt(row),
  emailHash: row.email_hash,
})

const ORDER = { name: 'erasures id desc', table: 'erasure_receipts' }

/** Without erasures that run or were interrupted. @throws Failure `invalid` for a wrong cursor */
export async function listReceipts(
  { db, hashReceipt }: { db: Database; hashReceipt: ReceiptHasher },
  { workspaceId }: Actor,
  { email, ...paging }: ErasureListQueryInput,
): Promise<Page<ReceiptResource>> {
  let receipts = db.read
    .selectFrom('erasure_receipts')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('finished_at', 'is not', null)
  if (email !== undefined) receipts = receipts.where('email_hash', '=', hashReceipt(workspaceId, email))
  const { rows, ...page } = await listNewest(receipts, paging, ORDER)
  return { data: rows.map(toReceiptResource), ...page }
}
