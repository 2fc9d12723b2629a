// Lists the receipts of erasures of a workspace, newest first, a page at a time.

import type { Page } from '../../../lib/pagination.ts'
import { listNewest } from '../../../storage/database/list-newest.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import { type ReceiptHasher, toReceiptResource } from './erasure-receipt.ts'
import type { ErasureListQueryInput, ReceiptResource } from './schema.ts'

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
