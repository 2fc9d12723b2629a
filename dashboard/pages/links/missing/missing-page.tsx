// The 404s page: slugs that people asked for and that no link has, with the ways to give them a link.

import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { SearchX } from 'lucide-react'
import { useState } from 'react'
import { type MissingSlug, missingQuery } from '../../../api/missing.ts'
import { useApi, useCanEdit } from '../../../shell/use-workspace.ts'
import { ViewerDialog } from '../../../shell/viewer.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { ErrorState } from '../../../ui/error-state.tsx'
import { focusIfLost } from '../../../ui/focus.ts'
import { formatCount } from '../../../ui/format.ts'
import { SelectField } from '../../../ui/forms/field.tsx'
import { lazyPart } from '../../../ui/lazy-part.tsx'
import { Page } from '../../../ui/page.tsx'
import { SkeletonRows } from '../../../ui/skeleton.tsx'
import { MissingRow, toMissingElementId } from './missing-row.tsx'
import { ReportSetting } from './report-setting.tsx'

const LinkDrawer = lazyPart(() => import('../editor/link-drawer.tsx'), 'LinkDrawer')
const RedirectDialog = lazyPart(() => import('./redirect-dialog.tsx'), 'RedirectDialog')

const FROM = '/$workspaceId/links/missing'
const INTERVALS = {
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  '90d': 'Last 90 days',
}
const isInterval = (text: string | undefined): text is keyof typeof INTERVALS =>
  text !== undefined && Object.hasOwn(INTERVALS, text)

export function MissingPage() {
  const { interval: written, slug, domain } = useSearch({ from: FROM })
  const navigate = useNavigate({ from: FROM })
  const canEdit = useCanEdit()
  const interval = isInterval(written) ? written : '30d'
  const [redirected, setRedirected] = useState<MissingSlug>()
  const create = (missing: MissingSlug) =>
    void navigate({ search: { interval: written, slug: missing.slug, domain: missing.domain } })
  const focusRow = (missing: { domain: string; slug: string }) =>
    focusIfLost(() => document.getElementById(toMissingElementId(missing)) ?? document.getElementById('main'))
  const closeEditor = () => {
    void navigate({ search: { interval: written }, replace: true })
    if (slug !== undefined) focusRow({ domain: domain ?? '', slug })
  }
  return (
    <Page
      title="404s"
      description="Short links that people opened but that don’t exist. Bots aren’t counted."
      breadcrumb={[{ label: 'Links', to: '/$workspaceId/links' }]}
    >
      <SelectField
        label="Period"
        hideLabel
        className="mb-3 w-44"
        value={interval}
        onChange={({ target }) => navigate({ search: { interval: target.value }, replace: true })}
        options={Object.entries(INTERVALS)}
      />
      <Results interval={interval} create={create} redirect={setRedirected} />
      <ReportSetting />
      {slug !== undefined && !canEdit && <ViewerDialog onClose={closeEditor} />}
      {slug !== undefined && canEdit && (
        <LinkDrawer key={`${domain}/${slug}`} id={null} start={{ slug, domain }} onClose={closeEditor} />
      )}
      {redirected && (
        <RedirectDialog
          missing={redirected}
          onClose={() => {
            setRedirected(undefined)
            focusRow(redirected)
          }}
        />
      )}
    </Page>
  )
}

interface ResultsProps {
  interval: string
  create: (missing: MissingSlug) => void
  redirect: (missing: MissingSlug) => void
}

function Results({ interval, create, redirect }: ResultsProps) {
  const query = useQuery(missingQuery(useApi(), interval))
  if (query.isPending) return <SkeletonRows rows={6} className="h-16" />
  if (!query.data) return <ErrorState error={query.error} retry={() => void query.refetch()} />
  const { data, otherHits } = query.data
  if (data.length === 0)
    return (
      <EmptyState icon={SearchX} title="No 404s yet">
        Mistyped short links, and printed ones that you never created, appear here.
      </EmptyState>
    )
  return (
    <>
      <p role="status" className="mb-2 px-1 text-sm text-soft">
        {formatCount(data.length, 'short link')}
        {otherHits > 0 && `, and ${formatCount(otherHits, 'request')} for others`}
      </p>
      <ul aria-label="404s" className="overflow-clip rounded-2xl border border-line bg-card">
        {data.map((missing) => (
          <MissingRow
            key={`${missing.domain}/${missing.slug}`}
            missing={missing}
            create={() => create(missing)}
            redirect={() => redirect(missing)}
          />
        ))}
      </ul>
    </>
  )
}
