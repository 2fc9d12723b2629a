// The settings of a form that its endpoint needs. They are read by an index for each submission, so a change applies to
// the next submission.

import type { Selectable } from 'kysely'
import type { PageBrand } from '../../../http/page-brand.ts'
import { createBatcher } from '../../../lib/concurrency/batcher.ts'
import { createGenerations, type Generations } from '../../../lib/generations.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { isOneOf, prepareQuery } from '../../../storage/database/prepare-query.ts'
import type { Forms } from '../../../storage/database/tables/form-tables.ts'
import { mergeBrands, toPageBrand } from '../../accounts/brand/brand.ts'
import type { FormResource } from '../schema.ts'
import { DEFAULT_PER_ADDRESS, NO_SPAM_RULES, type ReturnMode } from './form-defaults.ts'

type OtherSettings = 'spamRetentionDays' | 'retentionDays' | 'brand' | 'fieldLabels' | 'replyTemplates'
type FormFacts =
  | 'formKey'
  | 'name'
  | 'endpoint'
  | 'submissions'
  | 'lastSubmissionAt'
  | 'createdAt'
  | 'updatedAt'

/** The settings for the checks and answers of submissions. */
type SubmissionSettings = Omit<FormResource, OtherSettings | FormFacts>

export interface FormSettings extends SubmissionSettings {
  id: number
  workspaceId: number
  formKey: string
  /** The operator has suspended the workspace. */
  suspended: boolean
  /** Absent where the pages of the form have none. */
  brand?: PageBrand
}

// Looser than the shape of a form key, and still safe in every database.
const KEY_SHAPE = /^[\w-]{1,64}$/

/** Names no workspace: the form key is public and belongs to one workspace. */
export async function findFormSettings(
  db: Pick<Database, 'read' | 'engine'>,
  formKey: string,
): Promise<FormSettings | undefined> {
  if (!KEY_SHAPE.test(formKey)) return undefined
  const { cache, readVersion } = findCache(db)
  const version = await readVersion(formKey)
  if (!version) return undefined
  const known = cache.get(formKey)
  if (known && isSameVersion(known.version, version)) return known.settings
  const [row] = await selectSettings(db.read, { formKey })
  if (!row) return undefined
  const settings = {
    ...readSubmissionSettings(row),
    id: row.id,
    workspaceId: row.workspace_id,
    formKey,
    suspended: row.suspended_at !== null,
    brand: toPageBrand(mergeBrands(row.brand, row.workspace_brand)),
  }
  const bytes = 1000 + 2 * JSON.stringify(row).length + BYTES_OF_RULE_LETTER * (row.spam?.length ?? 0)
  cache.set(formKey, { version, settings, bytes })
  return settings
}

/** The letters of spam rules, once the rules are compiled (check-rules.ts). */
const BYTES_OF_RULE_LETTER = 60

type Version = Awaited<ReturnType<typeof selectVersion>>[number]

/** A server of an earlier release changes `updated_at` alone. */
const isSameVersion = (a: Version, b: Version) =>
  a.id === b.id &&
  a.enabled === b.enabled &&
  a.revision === b.revision &&
  a.updated_at === b.updated_at &&
  a.workspace_updated_at === b.workspace_updated_at &&
  a.suspended_at === b.suspended_at

interface CachedSettings {
  version: Version
  settings: FormSettings
  bytes: number
}

interface FormCache {
  /** The settings that were read last. They count as long as the version is the same. */
  cache: Generations<CachedSettings>
  readVersion: (formKey: string) => Promise<Version | undefined>
}

/** A cache for each database. */
const CACHES = new WeakMap<Connection, FormCache>()

function findCache({ read, engine }: Pick<Database, 'read' | 'engine'>): FormCache {
  const known = CACHES.get(read)
  if (known) return known
  const weigh = (_: string, { bytes }: CachedSettings) => bytes
  const empty: FormCache = {
    cache: createGenerations<CachedSettings>({ entriesMax: 500, bytesMax: 16 * 1024 * 1024, weigh }),
    readVersion:
      engine === 'sqlite'
        ? async (formKey) => (await selectVersion(read, { formKey }))[0]
        : createBatcher((formKeys: string[]) => readVersions(read, formKeys)),
  }
  CACHES.set(read, empty)
  return empty
}

/** A statement of PostgreSQL costs more than many look-ups in it. */
async function readVersions(connection: Connection, formKeys: string[]): Promise<(Version | undefined)[]> {
  const rows = await selectVersions(connection, { formKeys: [...new Set(formKeys)] })
  const versions = new Map(rows.map(({ form_key, ...version }) => [form_key, version]))
  return formKeys.map((formKey) => versions.get(formKey))
}

function selectForms(connection: Connection) {
  return connection.selectFrom('forms').innerJoin('workspaces', 'workspaces.id', 'forms.workspace_id')
}

const VERSION = [
  ...(['forms.id', 'forms.enabled', 'forms.revision', 'forms.updated_at'] as const),
  'workspaces.suspended_at',
  // A change of the brand raises it.
  'workspaces.updated_at as workspace_updated_at',
] as const

const selectVersion = prepareQuery((connection, { formKey }: { formKey: string }) =>
  selectForms(connection).where('forms.form_key', '=', formKey).select(VERSION),
)

const selectVersions = prepareQuery((connection, { formKeys }: { formKeys: string[] }) =>
  selectForms(connection)
    .where(isOneOf(connection, 'forms.form_key', formKeys))
    .select(['forms.form_key', ...VERSION]),
)

const selectSettings = prepareQuery((connection, { formKey }: { formKey: string }) =>
  selectForms(connection)
    .where('forms.form_key', '=', formKey)
    .selectAll('forms')
    .select(['workspaces.suspended_at', 'workspaces.brand as workspace_brand']),
)

export const readSubmissionSettings = (row: Selectable<Forms>): SubmissionSettings => ({
  enabled: row.enabled === 1,
  requiredFields: JSON.parse(row.required_fields),
  redirectUrl: row.redirect_url,
  pageUrl: row.page_url,
  afterSubmit: row.after_submit as ReturnMode,
  onError: row.on_error as ReturnMode,
  captcha: row.captcha === 1,
  successMessage: row.success_message,
  allowedOrigins: JSON.parse(row.allowed_origins),
  perAddress: row.per_address ?? DEFAULT_PER_ADDRESS,
  nextHosts: JSON.parse(row.next_hosts),
  channelIds: JSON.parse(row.channel_ids),
  uploads: parseOrNull(row.uploads),
  reply: parseOrNull(row.reply),
  spam: parseOrNull(row.spam) ?? NO_SPAM_RULES,
  rules: parseOrNull(row.rules) ?? {},
  messages: parseOrNull(row.messages) ?? {},
  consent: parseOrNull(row.consent),
  adClickIds: row.ad_click_ids === 1,
})

/** @returns the parsed value of a JSON column; its type is that of the input's schema */
export const parseOrNull = (json: string | null) => (json === null ? null : JSON.parse(json))
