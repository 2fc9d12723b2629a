// The settings of a form that its endpoint needs. They are read by an index for each submission, so a change applies to
// the next submission.

import type { PageBrand } from '../../../http/page-brand.ts'
import { createGenerations, type Generations } from '../../../lib/generations.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { prepareQuery } from '../../../storage/database/prepare-query.ts'
import { mergeBrands, toPageBrand } from '../../accounts/brand/brand.ts'
import type { ConsentSettings } from '../consent/schema.ts'
import type { ReplySettings } from '../replies/schema.ts'
import type { FieldMessages, FieldRules } from '../rules/schema.ts'
import type { SpamSettings } from '../spam/schema.ts'
import { readSpamSettings } from '../spam/spam-settings.ts'
import type { UploadSettings } from '../uploads/schema.ts'
import { parseOrNull } from './form.ts'
import { DEFAULT_PER_ADDRESS, type ReturnMode } from './form-defaults.ts'

export interface FormSettings {
  id: number
  workspaceId: number
  formKey: string
  enabled: boolean
  /** The operator has suspended the workspace. */
  suspended: boolean
  requiredFields: string[]
  redirectUrl: string | null
  pageUrl: string | null
  afterSubmit: ReturnMode
  onError: ReturnMode
  captcha: boolean
  successMessage: string | null
  allowedOrigins: string[]
  /** Submissions in any minute from one address. */
  perAddress: number
  nextHosts: string[]
  channelIds: number[]
  uploads: UploadSettings | null
  reply: ReplySettings | null
  spam: SpamSettings
  rules: FieldRules
  messages: FieldMessages
  consent: ConsentSettings | null
  /** Absent where the pages of the form have none. */
  brand?: PageBrand
  /** Keeps the click ids of ad networks. */
  adClickIds: boolean
}

// Looser than the shape of a form key, and still safe in every database.
const KEY_SHAPE = /^[\w-]{1,64}$/

/** Names no workspace: the form key is public and belongs to one workspace. */
export async function findFormSettings(db: Database, formKey: string): Promise<FormSettings | undefined> {
  if (!KEY_SHAPE.test(formKey)) return undefined
  const [version] = await selectVersion(db.read, { formKey })
  if (!version) return undefined
  const read = findRead(db.read)
  const known = read.get(formKey)
  if (known && isSameVersion(known.version, version)) return known.settings
  const [row] = await selectSettings(db.read, { formKey })
  if (!row) return undefined
  const settings = readRow(row)
  read.set(formKey, { version: row, settings, bytes: 1000 + 2 * JSON.stringify(row).length })
  return settings
}

type Row = Awaited<ReturnType<typeof selectSettings>>[number]
type Version = Awaited<ReturnType<typeof selectVersion>>[number]

/** A server of an earlier release changes `updated_at` alone. */
const isSameVersion = (a: Version, b: Version) =>
  a.id === b.id &&
  a.enabled === b.enabled &&
  a.revision === b.revision &&
  a.updated_at === b.updated_at &&
  a.workspace_updated_at === b.workspace_updated_at &&
  a.suspended_at === b.suspended_at

interface ReadSettings {
  version: Version
  settings: FormSettings
  bytes: number
}

/** The settings that were read last from each database. They count as long as the version is the same. */
const READ = new WeakMap<Connection, Generations<ReadSettings>>()

function findRead(connection: Connection): Generations<ReadSettings> {
  const known = READ.get(connection)
  if (known) return known
  const weigh = (_: string, { bytes }: ReadSettings) => bytes
  const empty = createGenerations<ReadSettings>({ entriesMax: 500, bytesMax: 16 * 1024 * 1024, weigh })
  READ.set(connection, empty)
  return empty
}

const VERSION_COLUMNS = [
  'forms.id',
  'forms.enabled',
  'forms.revision',
  'forms.updated_at',
  'workspaces.suspended_at',
  // A change of the brand raises it.
  'workspaces.updated_at as workspace_updated_at',
] as const

function selectByKey(connection: Connection, { formKey }: { formKey: string }) {
  return connection
    .selectFrom('forms')
    .innerJoin('workspaces', 'workspaces.id', 'forms.workspace_id')
    .where('forms.form_key', '=', formKey)
}

const selectVersion = prepareQuery((connection, query: { formKey: string }) =>
  selectByKey(connection, query).select(VERSION_COLUMNS),
)

function readRow(row: Row): FormSettings {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    formKey: row.form_key,
    enabled: row.enabled === 1,
    suspended: row.suspended_at !== null,
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
    spam: readSpamSettings(row.spam),
    rules: parseOrNull(row.rules) ?? {},
    messages: parseOrNull(row.messages) ?? {},
    consent: parseOrNull(row.consent),
    brand: toPageBrand(mergeBrands(row.brand, row.workspace_brand)),
    adClickIds: row.ad_click_ids === 1,
  }
}

const COLUMNS = [
  ...VERSION_COLUMNS,
  'forms.workspace_id',
  'forms.form_key',
  'forms.required_fields',
  'forms.redirect_url',
  'forms.page_url',
  'forms.after_submit',
  'forms.on_error',
  'forms.captcha',
  'forms.success_message',
  'forms.allowed_origins',
  'forms.per_address',
  'forms.next_hosts',
  'forms.channel_ids',
  'forms.uploads',
  'forms.reply',
  'forms.spam',
  'forms.rules',
  'forms.messages',
  'forms.consent',
  'forms.brand',
  'workspaces.brand as workspace_brand',
  'forms.ad_click_ids',
] as const

const selectSettings = prepareQuery((connection, query: { formKey: string }) =>
  selectByKey(connection, query).select(COLUMNS),
)
