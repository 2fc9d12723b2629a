// The page of one domain: its DNS records first while something is missing, else its settings.

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { GlobeX, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { ApiError } from '../../api/client.ts'
import { type DomainResource, domainQuery, domainsQuery } from '../../api/domains.ts'
import { useApi, useWorkspace } from '../../shell/use-workspace.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { formatCount } from '../../ui/format.ts'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { COLUMN, type Crumb, Page } from '../../ui/page.tsx'
import { RelativeTime } from '../../ui/relative-time.tsx'
import { Skeleton, SkeletonRows } from '../../ui/skeleton.tsx'
import { DnsSteps } from './dns-steps.tsx'
import { DomainSettings } from './domain-settings.tsx'
import { DomainBadges, isSetUp } from './domain-state.tsx'

const DeleteDomainDialog = lazyPart(() => import('./delete-domain-dialog.tsx'), 'DeleteDomainDialog')

/** The server checks the domain by itself, and other people change it. */
const REFRESH_MS = 15_000

export function DomainPage() {
  const { domainId } = useParams({ from: '/$workspaceId/domains/$domainId' })
  const api = useApi()
  const client = useQueryClient()
  const id = Number(domainId)
  const { data, error, refetch } = useQuery({
    ...domainQuery(api, id),
    initialData: () => client.getQueryData(domainsQuery(api).queryKey)?.find((domain) => domain.id === id),
    initialDataUpdatedAt: 0,
    refetchInterval: REFRESH_MS,
    enabled: Number.isInteger(id) && id > 0,
  })
  if (data) return <LoadedDomain key={id} domain={data} />
  const isMissing = error instanceof ApiError && [404, 422].includes(error.status)
  if (isMissing || !(id > 0)) return <NoDomain />
  return (
    <Page title="Domain" breadcrumb={DOMAINS} heading={<Skeleton className="h-8 w-56" />}>
      {error ? (
        <ErrorState error={error} retry={() => void refetch()} />
      ) : (
        <SkeletonRows rows={3} className="h-40" />
      )}
    </Page>
  )
}

const DOMAINS: Crumb[] = [{ label: 'Domains', to: '/$workspaceId/domains' }]

function LoadedDomain({ domain }: { domain: DomainResource }) {
  // The cards keep their order while the page is open.
  const [startsSetUp] = useState(() => isSetUp(domain))
  return (
    <Page
      title={domain.domain}
      breadcrumb={DOMAINS}
      heading={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <span className="min-w-0 break-all">{domain.domain}</span>
          <span className="text-base font-normal tracking-normal">
            <DomainBadges domain={domain} />
          </span>
        </span>
      }
      description={<Summary domain={domain} />}
      actions={<Actions domain={domain} />}
    >
      <div className={`${COLUMN} gap-5`}>
        {!startsSetUp && <DnsSteps domain={domain} />}
        <DomainSettings domain={domain} />
        {startsSetUp && <DnsSteps domain={domain} />}
      </div>
    </Page>
  )
}

function Summary({ domain }: { domain: DomainResource }) {
  const workspaceId = String(useWorkspace().id)
  return (
    <span className="text-sm">
      <Link
        to="/$workspaceId/links"
        params={{ workspaceId }}
        search={{ domain: domain.domain, archived: 'all' }}
        className="text-link"
      >
        {formatCount(domain.links, 'link')}
      </Link>{' '}
      ·{' '}
      <Link
        to="/$workspaceId/analytics"
        params={{ workspaceId }}
        search={{ domain: domain.domain }}
        className="text-link"
      >
        Analytics
      </Link>{' '}
      · Added <RelativeTime at={domain.createdAt} />
    </span>
  )
}

function Actions({ domain }: { domain: DomainResource }) {
  const { role } = useWorkspace()
  const [isDeleting, setDeleting] = useState(false)
  return (
    <>
      {role === 'owner' && (
        <Button icon={<Trash2 size={16} />} onClick={() => setDeleting(true)}>
          Delete
        </Button>
      )}
      {isDeleting && <DeleteDomainDialog domain={domain} onClose={() => setDeleting(false)} />}
    </>
  )
}

function NoDomain() {
  const { id } = useWorkspace()
  return (
    <Page title="Domain not found">
      <EmptyState
        icon={GlobeX}
        title="This domain doesn’t exist"
        action={
          <ButtonLink to="/$workspaceId/domains" params={{ workspaceId: String(id) }} search={{}}>
            All domains
          </ButtonLink>
        }
      >
        It was deleted, or it belongs to another workspace.
      </EmptyState>
    </Page>
  )
}
