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
import { cluster } from './migrations/0022-cluster.ts'
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
})

/**
 * @throws Error with a message for the operator, when a newer version has migrated the database or a migration fails
 */
export async function migrate(
  connection: Kysely<Tables>,
  migrations: Record<string, Migration>,
): Promise<void> {
  const migrator = new Migrator({ db: connection, provider: { getMigrations: async () => migrations } })
  const unknown = (await listAppliedMigrations(connection)).filter((name) => !(name in migrations))
  if (unknown.length > 0) {
    throw new Error(
      `This database was made by a newer version of Towpath (it has ${unknown.join(', ')}). ` +
        'Start that version, or restore a backup made by this one.',
    )
  }
  const { error, results } = await migrator.migrateToLatest()
  if (error) {
    const step = results?.find((result) => result.status === 'Error')?.migrationName
    throw new Error(`The database could not be brought up to date${step ? ` (step ${step})` : ''}.`, {
      cause: error,
    })
  }
}

async function listAppliedMigrations(connection: Kysely<Tables>): Promise<string[]> {
  const tables = await connection.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some((table) => table.name === 'kysely_migration')) return []
  const rows = await (connection as unknown as Kysely<{ kysely_migration: { name: string } }>)
    .selectFrom('kysely_migration')
    .select('name')
    .execute()
  return rows.map((row) => row.name)
}
