// Lists the receipts of erasures of a workspace, newest first, a page at a time.

import { cutPage, orderById, type Page, readPageQuery } from '../../../lib/pagination.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import { type ReceiptHasher, toReceiptResource } from './erasure-receipt.ts'
import type { ErasureListQueryInput, ReceiptResource } from './schema.ts'

const ORDER = orderById('erasures id desc')

/** Without erasures that run or were interrupted. @throws Failure `invalid` for a wrong cursor */
export async function listReceipts(
  { db, hashReceipt }: { db: Database; hashReceipt: ReceiptHasher },
  { workspaceId }: Actor,
  { email, ...paging }: ErasureListQueryInput,
): Promise<Page<ReceiptResource>> {
  const { limit, after } = readPageQuery(paging, ORDER)
  let receipts = db.read
    .selectFrom('erasure_receipts')
    .where('workspace_id', '=', workspaceId)
    .where('finished_at', 'is not', null)
  if (email !== undefined) receipts = receipts.where('email_hash', '=', hashReceipt(workspaceId, email))
  let page = receipts.selectAll()
  if (after) page = page.where('id', '<', after.id)
  const found = await page
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()
  const total = await receipts.select((e) => e.fn.countAll<number>().as('n')).executeTakeFirstOrThrow()
  const { rows, nextCursor } = cutPage(found, limit, ORDER)
  return { data: rows.map(toReceiptResource), nextCursor, total: Number(total.n) }
}
