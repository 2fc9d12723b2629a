// The events of the audit log in words for people.

import type { AuditEventResource } from '../../api/audit.ts'
import { formatTime } from '../../ui/format.ts'

export const ACTION_LABELS: Record<AuditEventResource['action'], string> = {
  'key.created': 'API key created',
  'key.revoked': 'API key revoked',
  'member.invited': 'Member invited',
  'member.joined': 'Member joined',
  'member.role_changed': 'Role changed',
  'member.removed': 'Member removed',
  'invitation.revoked': 'Invitation revoked',
  'workspace.created': 'Workspace created',
  'workspace.renamed': 'Workspace renamed',
  'workspace.plan_changed': 'Plan changed',
  'workspace.settings_changed': 'Workspace settings changed',
  'workspace.suspended': 'Workspace suspended',
  'workspace.restored': 'Workspace restored',
  'channel.created': 'Channel created',
  'channel.updated': 'Channel changed',
  'channel.deleted': 'Channel deleted',
  'channel.secret_rotated': 'Channel secret rotated',
  'domain.created': 'Domain added',
  'domain.updated': 'Domain changed',
  'domain.verified': 'Domain verified',
  'domain.lost': 'Domain lost',
  'domain.deleted': 'Domain removed',
  'form.deleted': 'Form deleted',
  'link.deleted': 'Link moved to the trash',
  'link.undeleted': 'Link returned from the trash',
  'link.purged': 'Link permanently deleted',
  'link.suspended': 'Link suspended',
  'link.restored': 'Link restored',
  'link.split_ended': 'Split test ended',
  'link.bulk_edited': 'Links changed together',
  'link.destination_repaired': 'Destination repaired in all links',
  'tag.deleted': 'Tag deleted',
  'utm_template.created': 'UTM template created',
  'utm_template.updated': 'UTM template changed',
  'utm_template.deleted': 'UTM template deleted',
  'view.created': 'View saved',
  'view.updated': 'View changed',
  'view.deleted': 'View deleted',
  'allowed_sender.created': 'Sender always allowed',
  'allowed_sender.deleted': 'Sender no longer always allowed',
  'submission.replied': 'Reply sent to a sender',
  'submission.deleted': 'Submission deleted',
  'submission.erased': 'Personal data erased',
  'submission.expired': 'Old submissions deleted',
  'submission.exported': 'Submissions exported',
  'outcome.deleted': 'Outcome taken back',
  'outcome.exported': 'Outcomes exported',
  'submission.person_exported': 'Data of a person exported',
  'clicks.exported': 'Clicks exported',
  'leads.exported': 'Leads exported',
  'link.exported': 'Links exported',
  'workspace.exported': 'Workspace exported',
  'import.created': 'Import started',
  'import.undone': 'Import undone',
  'audit.exported': 'Audit log exported',
  sign_in: 'Signed in',
  sign_in_failed: 'Sign-in failed',
  session_ended: 'Session ended',
  sign_out_everywhere: 'Signed out everywhere',
  password_changed: 'Password changed',
  second_factor_changed: 'Two-factor sign-in changed',
  email_changed: 'Email address changed',
  account_deleted: 'Account deleted',
  account_suspended: 'Account suspended',
  account_restored: 'Account restored',
}

export function toActorText({ type, name }: AuditEventResource['actor']): string {
  if (type === 'key') return `API key ${name ?? ''}`.trim()
  if (type === 'operator') return 'Operator (command line)'
  if (type === 'system') return 'The server'
  if (type === 'unknown') return 'Unknown'
  return name ?? 'A deleted account'
}

/** The value of the filter that finds the events of the same actor. */
export const toActorFilter = ({ type, name }: AuditEventResource['actor']) => name ?? type

export const toTargetText = (target: AuditEventResource['target']) =>
  target ? (target.name ?? (target.id === null ? '' : `${target.type} ${target.id}`)) : ''

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

const toValueText = (value: unknown) => {
  if (Array.isArray(value)) return value.join(', ')
  return typeof value === 'string' && TIME.test(value) ? formatTime(value) : String(value)
}

/** `from: member · to: owner` */
export const toDetailText = (detail: AuditEventResource['detail']) =>
  Object.entries(detail)
    .filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => {
      const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
      return `${words}: ${toValueText(value)}`
    })
    .join(' · ')
