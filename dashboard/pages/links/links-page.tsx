// All links of the workspace.

import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { lazy, Suspense, useCallback, useEffect, useRef, useState } from 'react'
import type { LinkResource } from '../../../server/features/links/schema.ts'
import { isOnboarded, onboardingQuery } from '../../api/onboarding.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { ErrorState, SkeletonRows } from '../../ui/states.tsx'
import { useLinkActions } from './link/use-link-actions.ts'
import type { LinkHandlers } from './list/link-list-item.tsx'
import { LinkResults } from './list/link-results.tsx'
import { isFiltered, pickFilters, useLinkSearch, useLinks, useSetLinkSearch } from './list/use-link-search.ts'
import { hasSeenOnboarding, markOnboardingSeen } from './onboarding/onboarding-seen.ts'

const LinkDrawer = lazy(() =>
  import('./editor/link-drawer.tsx').then(({ LinkDrawer }) => ({ default: LinkDrawer })),
)
const QrDialog = lazy(() => import('./link/qr-dialog.tsx').then(({ QrDialog }) => ({ default: QrDialog })))
const OnboardingChecklist = lazy(() =>
  import('./onboarding/onboarding-checklist.tsx').then(({ OnboardingChecklist }) => ({
    default: OnboardingChecklist,
  })),
)

export function LinksPage() {
  const search = useLinkSearch()
  const set = useSetLinkSearch()
  const [qr, showQr] = useState<LinkResource>()
  const create = useCallback(() => set({ new: '1' }, { replace: false }), [set])
  const { archive, remove } = useLinkActions()
  const acts = {
    edit: (link: LinkResource) => set({ edit: String(link.id) }, { replace: false }),
    duplicate: (link: LinkResource) => set({ new: '1', from: String(link.id) }, { replace: false }),
    showQr,
    archive: (link: LinkResource) => void archive([link], !link.archived),
    remove: (link: LinkResource) => remove([link]),
  }
  return (
    <Page
      title="Links"
      actions={
        <Button look="primary" icon={<Plus size={16} />} onClick={create}>
          New link
        </Button>
      }
    >
      <Content acts={acts} create={create} />
      <Suspense>
        {(search.new || search.edit) && (
          <LinkDrawer
            key={search.edit ?? search.from ?? 'new'}
            id={Number(search.edit ?? search.from) || null}
            copy={!search.edit}
            onClose={() => set({ new: '', from: '', edit: '' })}
          />
        )}
        {qr && <QrDialog link={qr} onClose={() => showQr(undefined)} />}
      </Suspense>
    </Page>
  )
}

interface ContentProps {
  acts: LinkHandlers
  create: () => void
}

function Content({ acts, create }: ContentProps) {
  const api = useApi()
  const filters = pickFilters(useLinkSearch())
  // Read once: who takes the last step still sees that it was the last.
  const [known, setKnown] = useState(() => hasSeenOnboarding(api.workspaceId))
  const steps = useQuery({ ...onboardingQuery(api), enabled: !known })
  const query = useLinks(filters)
  const atFirst = useRef<boolean>(undefined)
  if (steps.data) atFirst.current ??= isOnboarded(steps.data)
  useEffect(() => {
    if (atFirst.current) {
      markOnboardingSeen(api.workspaceId)
      setKnown(true)
    }
  })
  if (query.isError && !query.data)
    return <ErrorState error={query.error} retry={() => void query.refetch()} />
  // Both at once, so that nothing is pushed down when the other comes.
  if (!query.data || (!known && steps.isPending)) return <LoadingRows />
  const isNew = steps.data?.link === null && !isFiltered(filters)
  return (
    <>
      {steps.data && !known && !atFirst.current && (
        <Suspense fallback={<SkeletonRows rows={1} className="mb-5 h-40 rounded-2xl" />}>
          <OnboardingChecklist steps={steps.data} />
        </Suspense>
      )}
      {!isNew && <LinkResults query={query} acts={acts} create={create} />}
    </>
  )
}

const LoadingRows = () => (
  <>
    <div className="h-22 max-sm:h-33" />
    <SkeletonRows rows={8} className="h-16" />
  </>
)
