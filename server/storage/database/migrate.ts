// Runs the missing migrations of a database: under a lock, all in one transaction, forward only.

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
import { accountSecurity } from './migrations/0010-account-security.ts'
import { domainsAndTrash } from './migrations/0011-domains-and-trash.ts'
import { formFeatures } from './migrations/0012-form-features.ts'
import { notificationReports } from './migrations/0013-notification-reports.ts'
import { cluster } from './migrations/0014-cluster.ts'
import { imports } from './migrations/0015-imports.ts'
import { clientNames } from './migrations/0016-client-names.ts'
import { attachments } from './migrations/0017-attachments.ts'
import { searchTexts } from './migrations/0018-search-texts.ts'
import { cheapSubmissions } from './migrations/0019-cheap-submissions.ts'
import { foldedTexts } from './migrations/0021-folded-texts.ts'
import { brandsAndTests } from './migrations/0022-brands-and-tests.ts'
import { redirectRules } from './migrations/0023-redirect-rules.ts'
import { outcomes } from './migrations/0024-outcomes.ts'
import { splits } from './migrations/0026-splits.ts'
import { keptParams } from './migrations/0027-kept-params.ts'
import { internalTraffic } from './migrations/0028-internal-traffic.ts'
import { events } from './migrations/0029-events.ts'
import { views } from './migrations/0031-views.ts'
import { viewReports } from './migrations/0032-view-reports.ts'
import { destinations } from './migrations/0034-destinations.ts'
import { dayProofs } from './migrations/0035-day-proofs.ts'
import { sharedLimits } from './migrations/0037-shared-limits.ts'
import { viewAlerts } from './migrations/0038-view-alerts.ts'
import { silentLinks } from './migrations/0040-silent-links.ts'
import { inbox } from './migrations/0042-inbox.ts'
import { pinnedTags } from './migrations/0045-pinned-tags.ts'
import { utmTemplates } from './migrations/0046-utm-templates.ts'
import { userLanguage } from './migrations/0048-user-language.ts'
import { renameSteps, toNewSteps } from './rename-steps.ts'
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
  '0010-account-security': accountSecurity(engine),
  '0011-domains-and-trash': domainsAndTrash(engine),
  '0012-form-features': formFeatures(engine),
  '0013-notification-reports': notificationReports(engine),
  '0014-cluster': cluster(engine),
  '0015-imports': imports(engine),
  '0016-client-names': clientNames(engine),
  '0017-attachments': attachments(),
  '0018-search-texts': searchTexts(),
  '0019-cheap-submissions': cheapSubmissions(engine),
  '0021-folded-texts': foldedTexts(),
  '0022-brands-and-tests': brandsAndTests(engine),
  '0023-redirect-rules': redirectRules(engine),
  '0024-outcomes': outcomes(engine),
  '0026-splits': splits(engine),
  '0027-kept-params': keptParams(engine),
  '0028-internal-traffic': internalTraffic(engine),
  '0029-events': events(engine),
  '0031-views': views(engine),
  '0032-view-reports': viewReports(engine),
  '0034-destinations': destinations(engine),
  '0035-day-proofs': dayProofs(engine),
  '0037-shared-limits': sharedLimits(engine),
  '0038-view-alerts': viewAlerts(engine),
  '0040-silent-links': silentLinks(engine),
  '0042-inbox': inbox(engine),
  '0045-pinned-tags': pinnedTags(),
  '0046-utm-templates': utmTemplates(engine),
  '0048-user-language': userLanguage(engine),
})

/**
 * Runs the missing migrations. If a newer release has migrated the database, this one uses it unchanged, unless
 * the floor is a migration that this release does not know.
 * @throws Error with a message for the operator, when the database is too new or a migration fails
 */
export async function migrate(
  connection: Kysely<Tables>,
  migrations: Record<string, Migration>,
): Promise<void> {
  await renameSteps(connection as Kysely<unknown>, await listAppliedMigrations(connection))
  if (await isNewer(connection, migrations)) return
  const migrator = new Migrator({ db: connection, provider: { getMigrations: async () => migrations } })
  const { error, results } = await migrator.migrateToLatest()
  if (!error) return
  const step = results?.find((result) => result.status === 'Error')?.migrationName
  // A newer release that starts at the same time may have been first.
  if (step === undefined && (await isNewer(connection, migrations))) return
  throw new Error(`The database could not be brought up to date${step ? ` (step ${step})` : ''}.`, {
    cause: error,
  })
}

/** @returns true if a newer release has migrated the database @throws if this release cannot use it */
async function isNewer(connection: Kysely<Tables>, migrations: Record<string, Migration>): Promise<boolean> {
  const { unknown, isUsable } = await readMigrationState(connection, migrations)
  if (unknown.length === 0) return false
  if (isUsable) return true
  throw new Error(
    `This database was made by a newer version of Towpath (it has ${unknown.join(', ')}), which this version cannot ` +
      'work with. Start that version, or restore a backup of this version.',
  )
}

export interface MigrationState {
  /** Migrations of this release that the database does not have. */
  missing: string[]
  /** Migrations of a newer release in the database. */
  unknown: string[]
  applied: number
  /** False if a newer release has migrated the database in a way that this release cannot use. */
  isUsable: boolean
}

/** Compares the database with this release, and changes nothing. */
export async function readMigrationState(
  connection: Kysely<Tables>,
  migrations: Record<string, Migration>,
): Promise<MigrationState> {
  const applied = toNewSteps(await listAppliedMigrations(connection))
  const unknown = applied.filter((name) => !(name in migrations))
  const missing = Object.keys(migrations).filter((name) => !applied.includes(name))
  const floor = unknown.length === 0 ? undefined : await findFloor(connection)
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
