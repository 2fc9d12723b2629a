// The list of the workspace's domains.

import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Globe, Plus } from 'lucide-react'
import { type ReactNode, useMemo } from 'react'
import { type DomainResource, domainsQuery } from '../../api/domains.ts'
import { useApi, useCanEdit } from '../../shell/use-workspace.ts'
import { ViewerDialog } from '../../shell/viewer.tsx'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { focusIfLost } from '../../ui/focus.ts'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { Page } from '../../ui/page.tsx'
import { useShortcuts } from '../../ui/shortcuts.ts'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { DomainList } from './domain-list.tsx'

const AddDomainDialog = lazyPart(() => import('./add-domain-dialog.tsx'), 'AddDomainDialog')

const FROM = '/$workspaceId/domains'
/** The server checks domains by itself, and other people add some. */
const REFRESH_MS = 15_000

export function DomainsPage() {
  const domains = useQuery({ ...domainsQuery(useApi()), refetchInterval: REFRESH_MS })
  const navigate = useNavigate({ from: FROM })
  const { new: isAdding } = useSearch({ from: FROM })
  const canEdit = useCanEdit()
  const closeDialog = () => {
    void navigate({ search: {}, replace: true })
    focusIfLost('[data-add-domain]')
  }
  useShortcuts(
    useMemo(
      () => [
        {
          keys: 'n',
          label: 'Add domain',
          changes: true,
          run: () => void navigate({ search: { new: '1' } }),
        },
      ],
      [navigate],
    ),
  )
  const addButton = canEdit && (
    <Button
      variant="primary"
      data-add-domain
      icon={<Plus size={16} />}
      onClick={() => navigate({ search: { new: '1' } })}
    >
      Add domain
    </Button>
  )
  return (
    <Page
      title="Domains"
      description="Short links on your own domain."
      actions={domains.data?.length !== 0 && addButton}
    >
      {domains.isPending && <SkeletonRows rows={3} className="h-16" />}
      {domains.isError && !domains.data && (
        <ErrorState error={domains.error} retry={() => void domains.refetch()} />
      )}
      {domains.data?.length === 0 && <NoDomains action={addButton} />}
      {domains.data && domains.data.length > 0 && (
        <>
          <DomainList domains={domains.data} />
          <p className="mt-3 px-1 text-sm text-soft">{describeNewLinks(domains.data)}</p>
        </>
      )}
      {isAdding !== undefined && !canEdit && <ViewerDialog onClose={closeDialog} />}
      {isAdding !== undefined && canEdit && <AddDomainDialog onClose={closeDialog} />}
    </Page>
  )
}

function describeNewLinks(domains: DomainResource[]): string {
  const primary = domains.find((domain) => domain.primary && domain.verified)
  return primary
    ? `New links use ${primary.domain}. ${location.host} works too: choose it in the link editor.`
    : `New links use ${location.host}, the domain of this server. Make a verified domain primary to change that.`
}

const STEPS = [
  ['Add the name', 'A subdomain that you use for nothing else, such as go.example.com.'],
  [
    'Set two DNS records',
    'One proves that you own the domain, the other points it here. Copy them from this page.',
  ],
  ['Wait a few minutes', 'Towpath detects the records, and your short links work on the new domain.'],
] as const

const NoDomains = ({ action }: { action: ReactNode }) => (
  <EmptyState icon={Globe} title="No custom domains yet" action={action}>
    <p>Your links use {location.host}. With a custom domain, people see your name before they click.</p>
    <ol className="mt-5 grid gap-3 text-left sm:grid-cols-3">
      {STEPS.map(([title, text], i) => (
        <li key={title} className="rounded-xl border border-line bg-card p-3 text-sm">
          <p className="font-medium text-ink">
            {i + 1}. {title}
          </p>
          <p className="mt-1">{text}</p>
        </li>
      ))}
    </ol>
  </EmptyState>
)
