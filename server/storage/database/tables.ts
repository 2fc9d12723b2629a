// All tables by name, the same on SQLite and PostgreSQL; tables/ has their columns. Times are integer milliseconds,
// booleans are 0 or 1, and structured values are JSON text.

import type {
  ApiKeys,
  AuditEvents,
  BrandLogos,
  Identities,
  Invitations,
  Members,
  Passkeys,
  RecoveryCodes,
  Sessions,
  TotpSecrets,
  Users,
  Verifications,
  Workspaces,
} from './tables/account-tables.ts'
import type { BuiltFiles, Changes, Instance, Leases, Nodes } from './tables/cluster-tables.ts'
import type { Domains } from './tables/domain-tables.ts'
import type {
  AllowedSenders,
  CaptchaTokens,
  ErasedFiles,
  ErasureReceipts,
  FormAttempts,
  FormKeys,
  Forms,
  Outcomes,
  Replies,
  ReplyStops,
  SpamTotals,
  SpamWords,
  SubmissionAssignees,
  SubmissionFiles,
  Submissions,
  TeamReplies,
  Touches,
  UploadTotals,
} from './tables/form-tables.ts'
import type {
  ClickMarks,
  Destinations,
  InternalVisitors,
  LinkCounters,
  Links,
  LinkTags,
  Tags,
  UtmTemplates,
  VisitorSalts,
} from './tables/link-tables.ts'
import type { MoveSteps } from './tables/move-tables.ts'
import type {
  Channels,
  Deliveries,
  DeliveryAttempts,
  EventMarks,
  MailRecipients,
} from './tables/notify-tables.ts'
import type {
  DayProofs,
  ErasureMarks,
  Erasures,
  IdempotencyKeys,
  MailCounts,
  MailShares,
  Misses,
  MissingReports,
  OpenNames,
  RateLimits,
  RateWindows,
  SuspensionChanges,
} from './tables/operation-tables.ts'
import type {
  ImportDays,
  ImportErasureMarks,
  ImportErasures,
  ImportKeys,
  ImportRows,
  Imports,
  ImportTotals,
} from './tables/transfer-tables.ts'
import type { ViewAlerts, ViewReports, Views } from './tables/view-tables.ts'

export interface Tables {
  workspaces: Workspaces
  api_keys: ApiKeys
  brand_logos: BrandLogos
  users: Users
  sessions: Sessions
  identities: Identities
  verifications: Verifications
  totp_secrets: TotpSecrets
  recovery_codes: RecoveryCodes
  passkeys: Passkeys
  members: Members
  invitations: Invitations
  audit_events: AuditEvents
  links: Links
  link_counters: LinkCounters
  tags: Tags
  link_tags: LinkTags
  idempotency_keys: IdempotencyKeys
  click_marks: ClickMarks
  destinations: Destinations
  day_proofs: DayProofs
  forms: Forms
  form_keys: FormKeys
  submissions: Submissions
  touches: Touches
  outcomes: Outcomes
  submission_assignees: SubmissionAssignees
  team_replies: TeamReplies
  views: Views
  view_alerts: ViewAlerts
  view_reports: ViewReports
  submission_files: SubmissionFiles
  upload_totals: UploadTotals
  erased_files: ErasedFiles
  erasure_receipts: ErasureReceipts
  replies: Replies
  reply_stops: ReplyStops
  form_attempts: FormAttempts
  spam_totals: SpamTotals
  spam_words: SpamWords
  allowed_senders: AllowedSenders
  channels: Channels
  deliveries: Deliveries
  delivery_attempts: DeliveryAttempts
  event_marks: EventMarks
  mail_recipients: MailRecipients
  mail_counts: MailCounts
  mail_shares: MailShares
  captcha_tokens: CaptchaTokens
  erasures: Erasures
  erasure_marks: ErasureMarks
  suspension_changes: SuspensionChanges
  visitor_salts: VisitorSalts
  internal_visitors: InternalVisitors
  rate_limits: RateLimits
  rate_windows: RateWindows
  misses: Misses
  missing_reports: MissingReports
  open_names: OpenNames
  instance: Instance
  nodes: Nodes
  leases: Leases
  built_files: BuiltFiles
  move_steps: MoveSteps
  changes: Changes
  domains: Domains
  utm_templates: UtmTemplates
  imports: Imports
  import_rows: ImportRows
  import_keys: ImportKeys
  import_days: ImportDays
  import_totals: ImportTotals
  import_erasures: ImportErasures
  import_erasure_marks: ImportErasureMarks
}
