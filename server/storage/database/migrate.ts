// Runs the migrations that a database does not have yet: under a lock, each in a transaction, forward only.

import type { Kysely, Migration } from 'kysely'
import { Migrator } from 'kysely'
import type { DatabaseEngine } from './database.ts'
import { first } from './migrations/0001-first.ts'
import { erasures } from './migrations/0002-erasures.ts'
import { forms } from './migrations/0003-forms.ts'
import { attribution } from './migrations/0004-attribution.ts'
import { notify } from './migrations/0005-notify.ts'
import { submissionsByEmail } from './migrations/0006-submissions-by-email.ts'
import { accounts } from './migrations/0007-accounts.ts'
import { words } from './migrations/0008-words.ts'
import { interrupted } from './migrations/0009-interrupted.ts'
import { signUps } from './migrations/0010-sign-ups.ts'
import { secondFactor } from './migrations/0011-second-factor.ts'
import { audit } from './migrations/0012-audit.ts'
import { misses } from './migrations/0013-misses.ts'
import { nextHosts } from './migrations/0014-next-hosts.ts'
import { suspensions } from './migrations/0015-suspensions.ts'
import { formPages } from './migrations/0016-form-pages.ts'
import { trash } from './migrations/0017-trash.ts'
import { deliveryReports } from './migrations/0018-delivery-reports.ts'
import { ownReferrers } from './migrations/0019-own-referrers.ts'
import { submissionsByStatus } from './migrations/0021-submissions-by-status.ts'
import { cluster } from './migrations/cluster/0022-cluster.ts'
import { changes } from './migrations/cluster/0023-changes.ts'
import { sharedCounts } from './migrations/cluster/0024-shared-counts.ts'
import { linkCounters } from './migrations/cluster/0025-link-counters.ts'
import { builtFiles } from './migrations/cluster/0026-built-files.ts'
import { moves } from './migrations/cluster/0027-moves.ts'
import { domains } from './migrations/domains/0031-domains.ts'
import { cards } from './migrations/domains/0032-cards.ts'
import { missing } from './migrations/domains/0033-missing.ts'
import { formAnswers } from './migrations/forms/0036-form-answers.ts'
import { uploads } from './migrations/forms/0037-uploads.ts'
import { replies } from './migrations/forms/0038-replies.ts'
import { spam } from './migrations/forms/0039-spam.ts'
import { notificationSettings } from './migrations/forms/0040-notification-settings.ts'
import { erasureReceipts } from './migrations/forms/0041-erasure-receipts.ts'
import { deliveryRequests } from './migrations/operations/0029-delivery-requests.ts'
import { lateDeliveries } from './migrations/operations/0030-late-deliveries.ts'
import { mailShares } from './migrations/operations/0043-mail-shares.ts'
import { imports } from './migrations/transfer/0034-imports.ts'
import { history } from './migrations/transfer/0035-history.ts'
import { importBounds } from './migrations/transfer/0042-import-bounds.ts'
import type { Tables } from './tables.ts'

export const listMigrations = (engine: DatabaseEngine): Record<string, Migration> => ({
  '0001-first': first(engine),
  '0002-erasures': erasures(engine),
  '0003-forms': forms(engine),
  '0004-attribution': attribution(engine),
  '0005-notify': notify(engine),
  '0006-submissions-by-email': submissionsByEmail(),
  '0007-accounts': accounts(engine),
  '0008-words': words(),
  '0009-interrupted': interrupted(),
  '0010-sign-ups': signUps(engine),
  '0011-second-factor': secondFactor(engine),
  '0012-audit': audit(engine),
  '0013-misses': misses(engine),
  '0014-next-hosts': nextHosts(engine),
  '0015-suspensions': suspensions(engine),
  '0016-form-pages': formPages(engine),
  '0017-trash': trash(engine),
  '0018-delivery-reports': deliveryReports(engine),
  '0019-own-referrers': ownReferrers(),
  '0021-submissions-by-status': submissionsByStatus(),
  '0022-cluster': cluster(engine),
  '0023-changes': changes(engine),
  '0024-shared-counts': sharedCounts(engine),
  '0025-link-counters': linkCounters(engine),
  '0026-built-files': builtFiles(engine),
  '0027-moves': moves(engine),
  '0029-delivery-requests': deliveryRequests(engine),
  '0030-late-deliveries': lateDeliveries(engine),
  '0031-domains': domains(engine),
  '0032-cards': cards(engine),
  '0033-missing': missing(engine),
  '0034-imports': imports(engine),
  '0035-history': history(engine),
  '0036-form-answers': formAnswers(engine),
  '0037-uploads': uploads(engine),
  '0038-replies': replies(engine),
  '0039-spam': spam(engine),
  '0040-notification-settings': notificationSettings(engine),
  '0041-erasure-receipts': erasureReceipts(engine),
  '0042-import-bounds': importBounds(engine),
  '0043-mail-shares': mailShares(engine),
})

/**
 * Runs the missing migrations. Where a newer release has migrated the database, this one works with it as it is, unless
 * the floor is a migration that this release does not know.
 * @throws Error with a message for the operator, when the database is too new or a migration fails
 */
export async function migrate(
  connection: Kysely<Tables>,
  migrations: Record<string, Migration>,
): Promise<void> {
  const migrator = new Migrator({ db: connection, provider: { getMigrations: async () => migrations } })
  if (await isNewer(connection, migrations)) return
  const { error, results } = await migrator.migrateToLatest()
  if (!error) return
  const step = results?.find((result) => result.status === 'Error')?.migrationName
  // A newer release, which starts at the same time, may have been first.
  if (step === undefined && (await isNewer(connection, migrations))) return
  throw new Error(`The database could not be brought up to date${step ? ` (step ${step})` : ''}.`, {
    cause: error,
  })
}

/** Whether a newer release has migrated the database, and this one can use it. @throws when it cannot */
async function isNewer(connection: Kysely<Tables>, migrations: Record<string, Migration>): Promise<boolean> {
  const applied = await listAppliedMigrations(connection)
  const unknown = applied.filter((name) => !(name in migrations))
  if (unknown.length === 0) return false
  const floor = await findFloor(connection)
  const hasAll = Object.keys(migrations).every((name) => applied.includes(name))
  if (floor !== undefined && floor in migrations && hasAll) return true
  throw new Error(
    `This database was made by a newer version of Towpath (it has ${unknown.join(', ')}), which this version cannot ` +
      'work with. Start that version, or restore a backup made by this one.',
  )
}

export interface MigrationState {
  /** Migrations of this release that the database does not have. */
  missing: string[]
  /** In the database, and of a newer release. */
  unknown: string[]
  applied: number
  /** Whether this release may use a database that a newer one has migrated. */
  isUsable: boolean
}

/** Compares the database with this release, and changes nothing. */
export async function readMigrationState(
  connection: Kysely<Tables>,
  migrations: Record<string, Migration>,
): Promise<MigrationState> {
  const applied = await listAppliedMigrations(connection)
  const unknown = applied.filter((name) => !(name in migrations))
  const missing = Object.keys(migrations).filter((name) => !applied.includes(name))
  const floor = await findFloor(connection)
  const allowsThisRelease = floor !== undefined && floor in migrations && missing.length === 0
  return { missing, unknown, applied: applied.length, isUsable: unknown.length === 0 || allowsThisRelease }
}

async function listAppliedMigrations(connection: Kysely<Tables>): Promise<string[]> {
  if (!(await hasTable(connection, 'kysely_migration'))) return []
  const rows = await (connection as unknown as Kysely<{ kysely_migration: { name: string } }>)
    .selectFrom('kysely_migration')
    .select('name')
    .execute()
  return rows.map((row) => row.name)
}

async function findFloor(connection: Kysely<Tables>): Promise<string | undefined> {
  if (!(await hasTable(connection, 'instance'))) return undefined
  return (await connection.selectFrom('instance').select('floor').executeTakeFirst())?.floor
}

async function hasTable(connection: Kysely<Tables>, name: string): Promise<boolean> {
  const tables = await connection.introspection.getTables({ withInternalKyselyTables: true })
  return tables.some((table) => table.name === name)
}
