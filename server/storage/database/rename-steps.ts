// Renames the migrations in a database of an unreleased version to the steps that have replaced them.

import { type Kysely, sql } from 'kysely'

/** The steps between 0.1.0 and the next release, before they became one for each topic (docs/adr/0067-migrations.md). */
export const REPLACED_STEPS: readonly string[] = `
  0010-sign-ups 0011-second-factor 0012-audit 0013-misses 0014-next-hosts 0015-suspensions 0016-form-pages 0017-trash
  0018-delivery-reports 0019-own-referrers 0021-submissions-by-status 0022-cluster 0023-changes 0024-shared-counts
  0025-link-counters 0026-built-files 0027-moves 0029-delivery-requests 0030-late-deliveries 0031-domains 0032-cards
  0033-missing 0034-imports 0035-history 0036-form-answers 0037-uploads 0038-replies 0039-spam
  0040-notification-settings 0041-erasure-receipts 0042-import-bounds 0043-mail-shares`
  .trim()
  .split(/\s+/)

/** They create the same tables, columns and indexes. */
const NEW_STEPS = [
  '0010-account-security',
  '0011-domains-and-trash',
  '0012-form-features',
  '0013-notification-reports',
  '0014-cluster',
  '0015-imports',
]

/** @returns the names that the database has after `renameSteps` */
export function toNewSteps(applied: string[]): string[] {
  if (listLackingSteps(applied).length > 0) return applied
  return [...applied.filter((name) => !REPLACED_STEPS.includes(name)), ...NEW_STEPS]
}

const listLackingSteps = (applied: string[]) => REPLACED_STEPS.filter((name) => !applied.includes(name))

interface TablesOfSteps {
  kysely_migration: { name: string; timestamp: string }
}

/** @throws Error with a message for the operator, when the database has some of the replaced steps and not all */
export async function renameSteps(connection: Kysely<unknown>, applied: string[]): Promise<void> {
  if (!applied.some((name) => REPLACED_STEPS.includes(name))) return
  const lacking = listLackingSteps(applied)
  if (lacking.length > 0)
    throw new Error(
      `This database was made by an unreleased version of Towpath and lacks its steps ${lacking.join(', ')}. ` +
        'Start the version with all of them once, then this one.',
    )
  await (connection as Kysely<TablesOfSteps>).transaction().execute(async (transaction) => {
    // The deletion is the lock: a second process waits for it, and then finds no rows to delete.
    const deleted = await transaction
      .deleteFrom('kysely_migration')
      .where('name', 'in', REPLACED_STEPS)
      .returning('timestamp')
      .execute()
    // Steps are sorted by time. With this time they follow the steps of 0.1.0, independent of the clock.
    const timestamp = deleted
      .map((row) => row.timestamp)
      .toSorted()
      .at(-1)
    if (timestamp === undefined) return
    await transaction
      .insertInto('kysely_migration')
      .values(NEW_STEPS.map((name) => ({ name, timestamp })))
      .execute()
    await sql`update instance set floor = '0014-cluster' where floor = '0022-cluster'`.execute(transaction)
  })
}
