// Checks a domain's DNS now and stores its next state. A name is verified in one workspace at most: the unique index
// decides who was first.

import { isUniqueViolation } from '../../../storage/database/errors.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { recordChange } from '../../../storage/database/record-change.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { type AuditActor, recordAudit } from '../../accounts/audit/record-audit.ts'
import type { OwnersMail } from '../../accounts/workspaces/mail-owners.ts'
import { checkDomain, type DomainCheck, toProofName } from './check-domain.ts'
import { type DomainNeeds, type DomainRow, describeDomain, getDomain, lockDomains } from './domain.ts'
import { type DomainEvent, judgeOwnership } from './ownership.ts'
import type { DomainResource } from './schema.ts'
import { refuseTakenName, takenName } from './taken-name.ts'

export interface VerificationNeeds extends DomainNeeds {
  /** Mails the owners of a workspace. Never throws. */
  mailOwners: (workspaceId: number, mail: OwnersMail) => Promise<void>
}

/**
 * @returns the domain, verified or with its problem. @throws Failure `not_found`; `conflict` where another workspace has
 * verified the name
 */
export async function verifyDomain(
  needs: VerificationNeeds,
  actor: Actor,
  id: number,
): Promise<DomainResource> {
  allow(actor, 'links:write')
  const row = await getDomain(needs.db.read, actor, id)
  if (row.verified_at === null) await refuseTakenName(needs.db.read, actor, row.domain)
  const check = await checkDomain(needs, row)
  return describeDomain(needs, await storeCheck(needs, actor, row.id, check))
}

/** Part of verbs and of the daily job: after the look at DNS, which no transaction may wait for. */
export async function storeCheck(
  needs: VerificationNeeds,
  actor: AuditActor,
  id: number,
  check: DomainCheck,
): Promise<DomainRow> {
  const { stored, event, isNews } = await needs.db.write(async (connection, onCommit) => {
    await lockDomains(connection, actor)
    // The row that was read before the check may be old.
    const row = await getDomain(connection, actor, id)
    const judged = judgeOwnership(row, check, needs.now())
    const stored = await storeColumns(connection, row, judged.columns)
    if (judged.event) await recordEvent(connection, actor, stored, judged.event, needs.now())
    // Each process counts the domains that fail, for its metrics.
    const isNews =
      judged.event !== undefined || (row.failing_since === null) !== (stored.failing_since === null)
    if (isNews) recordChange(onCommit, { workspaceId: stored.workspace_id })
    return { stored, event: judged.event, isNews }
  })
  if (isNews) await needs.domains.reload()
  if (event === 'failing') await needs.mailOwners(actor.workspaceId, toFailingMail(needs.site.origin, stored))
  if (event === 'lost') await needs.mailOwners(actor.workspaceId, toLostMail(needs.site.origin, stored))
  return stored
}

type MailFacts = Pick<DomainRow, 'id' | 'domain' | 'token' | 'workspace_id' | 'problem'>

const toSteps = (origin: string, { id, domain, token, workspace_id }: MailFacts) => [
  'Set this TXT record at your DNS provider, and let the dashboard check it:',
  '',
  `  ${toProofName(domain)}  TXT  ${token}`,
  '',
  `${origin}/app/${workspace_id}/domains/${id}`,
  '',
]

/** The emails to owners about a domain without proof: when it begins to fail, and when it is lost. */
const toFailingMail = (origin: string, facts: MailFacts): OwnersMail => ({
  about: `the failing domain ${facts.id}`,
  subject: `The proof for ${facts.domain} is gone`,
  text: [
    `Towpath has looked at the DNS of ${facts.domain}, and its proof that the domain is yours is not there:`,
    '',
    `  ${facts.problem}`,
    '',
    'Its links still redirect. They stop after 7 days without the proof, and another workspace could have the domain then.',
    '',
    ...toSteps(origin, facts),
  ].join('\n'),
})

const toLostMail = (origin: string, facts: MailFacts): OwnersMail => ({
  about: `the lost domain ${facts.id}`,
  subject: `${facts.domain} has stopped`,
  text: [
    `The proof that ${facts.domain} is yours has been missing for 7 days. Its links no longer redirect:`,
    '',
    `  ${facts.problem}`,
    '',
    'Nothing is deleted. The links redirect again as soon as the domain is verified again.',
    '',
    ...toSteps(origin, facts),
  ].join('\n'),
})

async function storeColumns(connection: Connection, row: DomainRow, columns: Partial<DomainRow>) {
  try {
    return await connection
      .updateTable('domains')
      .set(columns)
      .where('workspace_id', '=', row.workspace_id)
      .where('id', '=', row.id)
      .returningAll()
      .executeTakeFirstOrThrow()
  } catch (error) {
    if (isUniqueViolation(error, { index: 'domains_verified', columns: ['domain'] }))
      throw takenName(row.domain)
    throw error
  }
}

async function recordEvent(
  connection: Connection,
  actor: AuditActor,
  { id, domain }: DomainRow,
  event: DomainEvent,
  at: number,
) {
  if (event === 'failing') return
  const target = { type: 'domain', id, name: domain } as const
  await recordAudit(connection, actor, { action: `domain.${event}`, target }, at)
}
