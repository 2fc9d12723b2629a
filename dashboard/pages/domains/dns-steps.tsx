// The DNS records that a domain needs, and whether each is there.

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { CircleCheck, CircleDashed, CircleX, RotateCw } from 'lucide-react'
import { type ReactNode, useEffect, useRef } from 'react'
import {
  type DnsRecord,
  type DomainResource,
  domainCheckQuery,
  invalidateDomains,
} from '../../api/domains.ts'
import { useApi, useCanEdit } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { classNames } from '../../ui/class-names.ts'
import { CopyButton } from '../../ui/copy/copy-button.tsx'
import { formatAgo } from '../../ui/format.ts'
import { toast } from '../../ui/overlays/toast.tsx'
import { isSetUp, toDomainState } from './domain-state.tsx'
import { guessZone, toRelativeName } from './record-name.ts'

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
            {checks.isChecking ? 'Checking…' : 'Check now'}
          </Button>
        )
      }
    >
      <div className="grid grid-cols-1 gap-6">
        <Progress domain={domain} checks={checks} />
        <ol className="grid grid-cols-1 gap-6">
          <Step number={1} title="Verify that you own the domain" records={proof} zone={zone}>
            Add this record at your DNS provider. Keep it there: it is checked once a day.
          </Step>
          <Step number={2} title="Point the domain here" records={addresses} zone={zone}>
            {addresses.length > 1 ? 'Add these records too.' : 'Add this record too.'} Remove other records of
            the types A, AAAA and CNAME that have the same name.
          </Step>
          <Step number={3} title="HTTPS" records={[]} zone={zone}>
            Caddy gets a certificate on the first visit after the domain is verified, if it is set up as{' '}
            <code>docs/domains.md</code> says. With nginx, the operator of this server creates one with
            certbot (same page).
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

const toMark = (ok: DnsRecord['ok']) => {
  if (ok === true) return { icon: CircleCheck, label: 'Found', color: 'text-accent' }
  if (ok === false) return { icon: CircleX, label: 'Missing', color: 'text-danger' }
  return { icon: CircleDashed, label: 'Not known', color: 'text-soft' }
}

/** One DNS record to set: type, name and value with copy buttons, and whether it was found. */
function DnsRecordBox({ record, zone }: { record: DnsRecord; zone: string }) {
  const { type, name, value, ok } = record
  const { icon: Icon, label, color } = toMark(ok)
  const relative = toRelativeName(name, zone)
  return (
    <div className="rounded-lg border border-line bg-sunken">
      <p
        className={`flex items-center gap-1.5 border-b border-line px-3 py-1.5 text-sm font-medium ${color}`}
      >
        <Icon size={16} aria-hidden />
        {label}
      </p>
      <dl className="grid grid-cols-1 gap-1 px-3 py-2 sm:grid-cols-[4rem_minmax(0,1fr)]">
        <Part name="Type" value={type} copy={false}>
          {type === 'ALIAS' && (
            <p className="text-sm text-soft">Your provider may call it ALIAS, ANAME or CNAME flattening.</p>
          )}
        </Part>
        <Part name="Name" value={name} copy={`Copy name of the ${type} record`}>
          {relative !== name && (
            <p className="flex flex-wrap items-center gap-x-1 text-sm text-soft">
              or <code className="break-all text-ink">{relative}</code>
              <CopyButton text={relative} label={`Copy short name of the ${type} record`} /> where your
              provider adds <code className="break-all">.{zone}</code> by itself
            </p>
          )}
        </Part>
        <Part name="Value" value={value} copy={`Copy value of the ${type} record`} />
      </dl>
    </div>
  )
}

interface PartProps {
  name: string
  value: string
  /** The label of the button, where there is one. */
  copy: string | false
  children?: ReactNode
}

const Part = ({ name, value, copy, children }: PartProps) => (
  <>
    <dt className="text-sm text-soft sm:py-1">{name}</dt>
    <dd className="min-w-0 max-sm:mb-1">
      <span className="flex min-h-8 items-center gap-1">
        <code className="min-w-0 break-all">{value}</code>
        {copy && <CopyButton text={value} label={copy} />}
      </span>
      {children}
    </dd>
  </>
)

const HINTS: [provider: string, hint: string][] = [
  [
    'Cloudflare',
    'DNS > Records > Add record. Set the record for visitors to “DNS only” (gray cloud), or the certificate can’t be made here.',
  ],
  [
    'GoDaddy, Namecheap, IONOS',
    'Enter the short name, without the domain. They add the domain automatically.',
  ],
  ['Route 53', 'Enter the short name. Put the value of the TXT record into double quotes.'],
  ['Zone files', 'Write the short name, or the full name with a dot at its end.'],
]

/** Hints on the fields of well-known DNS providers, for people who do this once a year. */
const ProviderHints = ({ zone, isApex }: { zone: string; isApex: boolean }) => (
  <details className="rounded-lg border border-line px-3 py-2 text-sm">
    <summary className="font-medium">Where do I set them?</summary>
    <div className="mt-2 grid gap-2 text-soft">
      <p>
        At the company that runs the name servers of <code className="break-all">{zone}</code>: often where
        you bought the name. Look for “DNS”, “Zone” or “Name servers” there.
      </p>
      <ul className="grid list-disc gap-1.5 pl-5">
        {HINTS.map(([provider, hint]) => (
          <li key={provider}>
            <span className="font-medium text-ink">{provider}:</span> {hint}
          </li>
        ))}
        {isApex && (
          <li>
            A domain without a part before it, such as <code className="break-all">{zone}</code>, can’t have a
            CNAME record. Use A and AAAA records, or what your provider calls ALIAS, ANAME or CNAME
            flattening.
          </li>
        )}
      </ul>
    </div>
  </details>
)

/** Looks at a domain's DNS records while its page is open and visible, until everything is there. */
function useDomainChecks(domain: DomainResource) {
  const api = useApi()
  const client = useQueryClient()
  const isWaiting = !isSetUp(domain)
  const check = useQuery({
    ...domainCheckQuery(client, api, domain.id, useCanEdit()),
    enabled: isWaiting,
  })
  const wasVerified = useRef(domain.verified)
  useEffect(() => {
    if (domain.verified && !wasVerified.current) {
      toast(`${domain.domain} is verified`)
      // The first domain of a workspace may be the primary one now.
      void invalidateDomains(client, api)
    }
    wasVerified.current = domain.verified
  }, [client, api, domain.verified, domain.domain])
  return {
    isWaiting,
    isChecking: check.isFetching,
    /** The time of the last check by this page; 0 before the first one. */
    checkedAt: check.dataUpdatedAt,
    error: check.error,
    checkNow: () => void check.refetch(),
  }
}
