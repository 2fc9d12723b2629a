// The DNS records that a domain needs, and whether each is there.

import { RotateCw } from 'lucide-react'
import type { ReactNode } from 'react'
import type { DnsRecord, DomainResource } from '../../api/domains.ts'
import { useCanEdit } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { classNames } from '../../ui/class-names.ts'
import { formatAgo } from '../../ui/format.ts'
import { DnsRecordBox } from './dns-record-box.tsx'
import { toDomainState } from './domain-state.tsx'
import { ProviderHints } from './provider-hints.tsx'
import { guessZone } from './record-name.ts'
import { useDomainChecks } from './use-domain-checks.ts'

export function DnsSteps({ domain }: { domain: DomainResource }) {
  const checks = useDomainChecks(domain)
  const canEdit = useCanEdit()
  const proof = domain.dns.filter(({ type }) => type === 'TXT')
  const addresses = domain.dns.filter(({ type }) => type !== 'TXT')
  const zone = guessZone(domain.domain)
  return (
    <Card
      title="DNS records"
      actions={
        canEdit && (
          <Button
            size="small"
            icon={<RotateCw size={14} />}
            busy={checks.isChecking}
            onClick={checks.checkNow}
          >
            {checks.isChecking ? 'Checking …' : 'Check now'}
          </Button>
        )
      }
    >
      <div className="grid grid-cols-1 gap-6">
        <Progress domain={domain} checks={checks} />
        <ol className="grid grid-cols-1 gap-6">
          <Step number={1} title="Prove that you own the domain" records={proof} zone={zone}>
            Add this record at your DNS provider. Keep it there: it is checked once a day.
          </Step>
          <Step number={2} title="Point the domain here" records={addresses} zone={zone}>
            {addresses.length > 1 ? 'Add these records too.' : 'Add this record too.'} Remove other records of
            the types A, AAAA and CNAME that have the same name.
          </Step>
          <Step number={3} title="Get a certificate" records={[]} zone={zone}>
            Caddy, set up as <code>docs/domains.md</code> says, gets one by itself at the first visit after
            the domain is verified. With nginx, the operator of this server makes one with certbot, as the
            same page says.
          </Step>
        </ol>
        <ProviderHints zone={zone} isApex={zone === domain.domain} />
      </div>
    </Card>
  )
}

interface ProgressProps {
  domain: DomainResource
  checks: ReturnType<typeof useDomainChecks>
}

/** The missing records, as a sentence, and the time of the last check. */
function Progress({ domain, checks }: ProgressProps) {
  const canEdit = useCanEdit()
  const state = toDomainState(domain)
  const isBad = state === 'failing' || state === 'lost'
  return (
    <div
      className={classNames(
        'rounded-lg border px-3 py-2.5 text-sm break-words',
        isBad
          ? 'border-danger bg-danger-tint'
          : checks.isWaiting
            ? 'border-warn bg-warn-tint'
            : 'border-line bg-sunken',
      )}
    >
      <p role="status" className="font-medium">
        {domain.problem ??
          (domain.verified
            ? 'The domain is verified, and its short links work.'
            : 'Waiting for the TXT record.')}
      </p>
      {checks.isWaiting && (
        <p className="mt-1">
          {checks.error
            ? `The last check failed: ${checks.error.message}`
            : canEdit
              ? 'This page checks again automatically while it’s open.'
              : 'A member or an owner can run the check again.'}
          {canEdit && checks.checkedAt > 0 && !checks.error && (
            <span className="text-soft">
              {' '}
              Last checked {formatAgo(new Date(checks.checkedAt).toISOString())}.
            </span>
          )}
        </p>
      )}
    </div>
  )
}

interface StepProps {
  number: number
  title: string
  records: DnsRecord[]
  zone: string
  children: ReactNode
}

const Step = ({ number, title, records, zone, children }: StepProps) => (
  <li className="grid grid-cols-1 gap-2">
    <h3 className="font-medium">
      {number}. {title}
    </h3>
    <p className="text-sm text-soft">{children}</p>
    {records.map((record) => (
      <DnsRecordBox key={`${record.type} ${record.name} ${record.value}`} record={record} zone={zone} />
    ))}
  </li>
)
