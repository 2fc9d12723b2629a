// All tables by name, the same on SQLite and PostgreSQL; tables/ has their columns. Times are integer milliseconds,
// booleans are 0 or 1, and structured values are JSON text.

import type * as account from './tables/account-tables.ts'
import type * as cluster from './tables/cluster-tables.ts'
import type * as domain from './tables/domain-tables.ts'
import type * as form from './tables/form-tables.ts'
import type * as link from './tables/link-tables.ts'
import type * as move from './tables/move-tables.ts'
import type * as notify from './tables/notify-tables.ts'
import type * as operation from './tables/operation-tables.ts'
import type * as transfer from './tables/transfer-tables.ts'
import type * as view from './tables/view-tables.ts'

export interface Tables {
  workspaces: account.Workspaces
  api_keys: account.ApiKeys
  brand_logos: account.BrandLogos
  users: account.Users
  sessions: account.Sessions
  identities: account.Identities
  verifications: account.Verifications
  totp_secrets: account.TotpSecrets
  recovery_codes: account.RecoveryCodes
  passkeys: account.Passkeys
  members: account.Members
  invitations: account.Invitations
  audit_events: account.AuditEvents
  links: link.Links
  link_counters: link.LinkCounters
  tags: link.Tags
  link_tags: link.LinkTags
  idempotency_keys: operation.IdempotencyKeys
  click_marks: link.ClickMarks
  destinations: link.Destinations
  day_proofs: operation.DayProofs
  forms: form.Forms
  form_keys: form.FormKeys
  submissions: form.Submissions
  touches: form.Touches
  outcomes: form.Outcomes
  submission_assignees: form.SubmissionAssignees
  team_replies: form.TeamReplies
  views: view.Views
  view_alerts: view.ViewAlerts
  view_reports: view.ViewReports
  submission_files: form.SubmissionFiles
  upload_totals: form.UploadTotals
  erased_files: form.ErasedFiles
  erasure_receipts: form.ErasureReceipts
  replies: form.Replies
  reply_stops: form.ReplyStops
  form_attempts: form.FormAttempts
  spam_totals: form.SpamTotals
  spam_words: form.SpamWords
  allowed_senders: form.AllowedSenders
  channels: notify.Channels
  deliveries: notify.Deliveries
  delivery_attempts: notify.DeliveryAttempts
  event_marks: notify.EventMarks
  mail_recipients: notify.MailRecipients
  mail_counts: operation.MailCounts
  mail_shares: operation.MailShares
  captcha_tokens: form.CaptchaTokens
  erasures: operation.Erasures
  erasure_marks: operation.ErasureMarks
  suspension_changes: operation.SuspensionChanges
  visitor_salts: link.VisitorSalts
  internal_visitors: link.InternalVisitors
  rate_limits: operation.RateLimits
  rate_windows: operation.RateWindows
  misses: operation.Misses
  missing_reports: operation.MissingReports
  open_names: operation.OpenNames
  instance: cluster.Instance
  nodes: cluster.Nodes
  leases: cluster.Leases
  built_files: cluster.BuiltFiles
  move_steps: move.MoveSteps
  changes: cluster.Changes
  domains: domain.Domains
  utm_templates: link.UtmTemplates
  imports: transfer.Imports
  import_rows: transfer.ImportRows
  import_keys: transfer.ImportKeys
  import_days: transfer.ImportDays
  import_totals: transfer.ImportTotals
  import_erasures: transfer.ImportErasures
  import_erasure_marks: transfer.ImportErasureMarks
}
