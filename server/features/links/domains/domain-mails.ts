// The mails to owners about a domain whose proof is gone: when it begins to fail, and when it is lost.

import type { OwnersMail } from '../../accounts/workspaces/mail-owners.ts'
import { toProofName } from './check-domain.ts'
import type { DomainRow } from './domain.ts'

type MailFacts = Pick<DomainRow, 'id' | 'domain' | 'token' | 'workspace_id' | 'problem'>

const toSteps = (origin: string, { id, domain, token, workspace_id }: MailFacts) => [
  'Set this TXT record at your DNS provider, and let the dashboard check it:',
  '',
  `  ${toProofName(domain)}  TXT  ${token}`,
  '',
  `${origin}/app/${workspace_id}/domains/${id}`,
  '',
]

export const toFailingMail = (origin: string, facts: MailFacts): OwnersMail => ({
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

export const toLostMail = (origin: string, facts: MailFacts): OwnersMail => ({
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
