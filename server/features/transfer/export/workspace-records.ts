// The records of a workspace's export: one type for each file, and the conversion of rows to records. Ids are only valid inside
// the export. The importer reads the same types (transfer/workspace/).

import type { Selectable } from 'kysely'
import { toIso, toIsoOrNull } from '../../../lib/iso-time.ts'
import { parseUrl } from '../../../lib/web-url.ts'
import type { Domains } from '../../../storage/database/tables/domain-tables.ts'
import type {
  Forms,
  Outcomes,
  SubmissionFiles,
  Submissions,
  Touches,
} from '../../../storage/database/tables/form-tables.ts'
import type { Tags, UtmTemplates } from '../../../storage/database/tables/link-tables.ts'
import type { Channels } from '../../../storage/database/tables/notify-tables.ts'
import type { Misses } from '../../../storage/database/tables/operation-tables.ts'
import type { Views } from '../../../storage/database/tables/view-tables.ts'
import { parseBrand } from '../../accounts/brand/brand.ts'
import { ANNOUNCED } from '../../forms/leads/announced.ts'
import type { TeamReplyResource } from '../../forms/team-replies/schema.ts'
import { toCampaign } from '../../visitors/campaign-columns.ts'

export const toTagRecord = (row: Selectable<Tags>) => ({
  id: row.id,
  name: row.name,
  color: row.color,
  pinned: row.pinned === 1,
  createdAt: toIso(row.created_at),
})

export const toUtmTemplateRecord = (row: Selectable<UtmTemplates>) => ({
  id: row.id,
  name: row.name,
  ...toCampaign(row),
  createdAt: toIso(row.created_at),
  updatedAt: toIso(row.updated_at),
})

export const toDomainRecord = (row: Selectable<Domains>) => ({
  domain: row.domain,
  primary: row.is_primary === 1,
  caseSensitive: row.case_sensitive === 1,
  rootUrl: row.root_url,
  notFoundUrl: row.not_found_url,
  expiredUrl: row.expired_url,
  assetLinks: parseOrNull(row.asset_links),
  appleAppSiteAssociation: parseOrNull(row.apple_app_site_association),
  createdAt: toIso(row.created_at),
})

const parseOrNull = (json: string | null): unknown => (json === null ? null : JSON.parse(json))

export const toChannelRecord = (row: Selectable<Channels>) => ({
  id: row.id,
  type: row.type,
  name: row.name,
  to: JSON.parse(row.recipients) as string[],
  url: row.shown_url === null ? null : hideUrl(row.shown_url),
  chatId: row.chat_id,
  enabled: row.enabled === 1,
  createdAt: toIso(row.created_at),
  updatedAt: toIso(row.updated_at),
})

/** Hides the path of a hook: everybody who knows it can post. */
const hideUrl = (url: string) => `${parseUrl(url)?.origin ?? ''}/…`

/** Without the shared page, whose address is a secret, and without reports and alerts. */
export const toViewRecord = (row: Selectable<Views>) => ({
  id: row.id,
  name: row.name,
  filters: JSON.parse(row.filters) as Record<string, string>,
  interval: row.interval_name,
  start: row.range_start,
  end: row.range_end,
  timezone: row.timezone,
  model: row.model,
  embed: JSON.parse(row.embed) as string[],
  createdAt: toIso(row.created_at),
  updatedAt: toIso(row.updated_at),
})

export const toFormRecord = (row: Selectable<Forms>) => ({
  formKey: row.form_key,
  name: row.name,
  enabled: row.enabled === 1,
  requiredFields: JSON.parse(row.required_fields) as string[],
  redirectUrl: row.redirect_url,
  pageUrl: row.page_url,
  afterSubmit: row.after_submit,
  onError: row.on_error,
  captcha: row.captcha === 1,
  successMessage: row.success_message,
  allowedOrigins: JSON.parse(row.allowed_origins) as string[],
  perAddress: row.per_address,
  nextHosts: JSON.parse(row.next_hosts) as string[],
  channelIds: JSON.parse(row.channel_ids) as number[],
  uploads: parseOrNull(row.uploads),
  reply: parseOrNull(row.reply),
  spam: parseOrNull(row.spam),
  spamRetentionDays: row.spam_retention_days,
  rules: parseOrNull(row.rules),
  messages: parseOrNull(row.messages),
  retentionDays: row.retention_days,
  consent: parseOrNull(row.consent),
  /** Without the logo, whose image is not exported. */
  brand: row.brand === null ? null : { ...parseBrand(row.brand), logo: null },
  adClickIds: row.ad_click_ids === 1,
  fieldLabels: parseOrNull(row.field_labels),
  replyTemplates: parseOrNull(row.reply_templates),
  createdAt: toIso(row.created_at),
  updatedAt: toIso(row.updated_at),
})

/** Without the fingerprint, which is a hash over an IP address. */
type ExportedSubmission = Omit<
  Selectable<Submissions>,
  'workspace_id' | 'form_id' | 'search_text' | 'fingerprint'
> & { form_key: string }

export const toSubmissionRecord = (
  row: ExportedSubmission,
  {
    touches,
    files,
    outcomes,
    replies,
    assignee,
  }: {
    touches: Selectable<Touches>[]
    files: Selectable<SubmissionFiles>[]
    outcomes: Selectable<Outcomes>[]
    replies: TeamReplyResource[]
    /** The email address of a member. */
    assignee: string | null
  },
) => ({
  id: row.id,
  formKey: row.form_key,
  /** Names and values in the sender's order. */
  fields: JSON.parse(row.fields) as [string, string][],
  status: row.status,
  spamReasons: parseOrNull(row.spam_reasons),
  consent: parseOrNull(row.consent),
  language: row.language,
  /** It has notified its channels, and it is a lead. */
  announced: row.announced === 1,
  announcedAt: toIsoOrNull(row.announced_at),
  test: row.announced === ANNOUNCED.test,
  notes: row.notes,
  email: row.email,
  duplicateOf: row.duplicate_of,
  visitor: row.visitor,
  linkId: row.link_id,
  clickId: row.click_id,
  eventId: row.event_id,
  sessionLinked: row.session_linked === 1,
  attribution: row.attribution,
  referrer: row.referrer,
  pageUrl: row.page_url,
  landingUrl: row.landing_url,
  adClickIds: parseOrNull(row.ad_click_ids),
  ...toCampaign(row),
  device: row.device,
  browser: row.browser,
  os: row.os,
  country: row.country,
  region: row.region,
  city: row.city,
  createdAt: toIso(row.created_at),
  files: files.map(({ field, name, type, bytes, sha256, key }) => ({
    field,
    name,
    type,
    bytes,
    sha256,
    /** Below `files/` in the zip. */
    path: key,
  })),
  touches: touches.map(toTouchRecord),
  outcomes: outcomes.map(toOutcomeRecord),
  replies: replies.map(({ author, subject, text, status, createdAt }) => ({
    author,
    subject,
    text,
    status,
    createdAt,
  })),
  assignee,
})

const toOutcomeRecord = (row: Selectable<Outcomes>) => ({
  stage: row.stage,
  value: row.value,
  currency: row.currency,
  at: toIso(row.at),
  externalId: row.external_id,
  createdAt: toIso(row.created_at),
  updatedAt: toIso(row.updated_at),
})

const toTouchRecord = (row: Selectable<Touches>) => ({
  at: toIso(row.at),
  kind: row.kind,
  linkId: row.link_id,
  clickId: row.click_id,
  referrer: row.referrer,
  landingUrl: row.landing_url,
  ...toCampaign(row),
})

/** The fields of a link in a workspace's export in addition to those of every export of links. */
export const toLinkState = (row: {
  clicks_used: number
  deleted_at: number | null
  purged_at: number | null
}) => ({
  /** Clicks that count for `clickLimit`. */
  clicksUsed: row.clicks_used,
  /** The link is in the trash. */
  deletedAt: toIsoOrNull(row.deleted_at),
  /** The link is permanently deleted: only its name is left, for the analytics. */
  purgedAt: toIsoOrNull(row.purged_at),
})

export const toMissRecord = (
  domain: string,
  row: Pick<Misses, 'hour' | 'slug' | 'hits' | 'visitors' | 'bots' | 'last_at'>,
) => ({
  domain,
  hour: toIso(row.hour),
  /** '' for the slugs that share a count. */
  slug: row.slug,
  hits: row.hits,
  visitors: row.visitors,
  bots: row.bots,
  lastAt: toIso(row.last_at),
})
