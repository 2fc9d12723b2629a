// The list of the workspace's links; for a new workspace the onboarding checklist above it.

import { useQuery } from '@tanstack/react-query'
import { Plus, SearchX, Trash2, Unlink } from 'lucide-react'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { LinkResource } from '../../../server/features/links/schema.ts'
import { isOnboarded, onboardingQuery } from '../../api/onboarding.ts'
import { useApi, useCanEdit } from '../../shell/use-workspace.ts'
import { ViewerDialog } from '../../shell/viewer.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { focusIfLost } from '../../ui/focus.ts'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { Page } from '../../ui/page.tsx'
import { useShortcuts } from '../../ui/shortcuts.ts'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { type LinkHandlers, useLinkActions } from './link/use-link-actions.ts'
import { toLinkElementId } from './list/link-list-item.tsx'
import { LinkResults } from './list/link-results.tsx'
import { isFiltered, pickFilters, useLinkSearch, useLinks, useSetLinkSearch } from './list/use-link-search.ts'
import { hasSeenOnboarding, markOnboardingSeen } from './onboarding/onboarding-seen.ts'

const LinkDrawer = lazyPart(() => import('./editor/link-drawer.tsx'), 'LinkDrawer')
const QrDialog = lazyPart(() => import('./link/qr-dialog.tsx'), 'QrDialog')
const OnboardingChecklist = lazyPart(
  () => import('./onboarding/onboarding-checklist.tsx'),
  'OnboardingChecklist',
  <SkeletonRows rows={1} className="mb-5 h-40 rounded-2xl" />,
)

export function LinksPage() {
  const search = useLinkSearch()
  const setSearch = useSetLinkSearch()
  const canEdit = useCanEdit()
  const [qr, showQr] = useState<LinkResource>()
  const create = useCallback(() => setSearch({ new: '1' }, { replace: false }), [setSearch])
  // The list has the other shortcuts, and a new workspace has no list.
  useShortcuts(useMemo(() => [{ keys: 'n', label: 'New link', changes: true, run: create }], [create]))
  const closeEditor = () => {
    setSearch({ new: '', url: '', from: '', edit: '' })
    focusIfLost(() => findRow(search.edit ?? search.from))
  }
  const closeQr = () => {
    showQr(undefined)
    focusIfLost(() => findRow(qr?.id))
  }
  const { archive, remove } = useLinkActions()
  const handlers = {
    edit: (link: LinkResource) => setSearch({ edit: String(link.id) }, { replace: false }),
    duplicate: (link: LinkResource) => setSearch({ new: '1', from: String(link.id) }, { replace: false }),
    showQr,
    archive: (link: LinkResource) => void archive([link], !link.archived),
    remove: (link: LinkResource) => void remove([link]),
  }
  return (
    <Page
      title="Links"
      actions={
        <>
          <PageLinks />
          {canEdit && (
            <Button variant="primary" icon={<Plus size={16} />} onClick={create}>
              New link
            </Button>
          )}
        </>
      }
    >
      <Content handlers={handlers} create={create} />
      {(search.new || search.edit) && !canEdit && <ViewerDialog onClose={closeEditor} />}
      {(search.new || search.edit) && canEdit && (
        <LinkDrawer
          key={search.edit ?? search.from ?? search.url ?? 'new'}
          id={Number(search.edit ?? search.from) || null}
          copy={!search.edit}
          start={{ destinationUrl: search.url }}
          onClose={closeEditor}
        />
      )}
      {qr && <QrDialog link={qr} onClose={closeQr} />}
    </Page>
  )
}

const PAGES = [
  { to: '/$workspaceId/links/missing', label: '404s', icon: SearchX },
  { to: '/$workspaceId/links/destinations', label: 'Destinations', icon: Unlink },
  { to: '/$workspaceId/links/trash', label: 'Trash', icon: Trash2 },
] as const

/** The pages beside the list. */
const PageLinks = () =>
  PAGES.map(({ to, label, icon: Icon }) => (
    <ButtonLink
      key={to}
      variant="quiet"
      from="/$workspaceId/links"
      to={to}
      search={{}}
      icon={<Icon size={16} />}
    >
      {label}
    </ButtonLink>
  ))

/** A dialog that a menu has opened cannot give the focus back to the menu: the link's row gets it. */
const findRow = (id: string | number | undefined) =>
  document.getElementById(toLinkElementId(Number(id))) ?? document.getElementById('main')

interface ContentProps {
  handlers: LinkHandlers
  create: () => void
}

function Content({ handlers, create }: ContentProps) {
  const api = useApi()
  const canEdit = useCanEdit()
  const filters = pickFilters(useLinkSearch())
  // Read once, so that the checklist stays visible after the last step.
  const [isSeen, setSeen] = useState(() => hasSeenOnboarding(api.workspaceId))
  const steps = useQuery({ ...onboardingQuery(api), enabled: !isSeen && canEdit })
  const query = useLinks(filters)
  const wasOnboarded = useRef<boolean>(undefined)
  if (steps.data) wasOnboarded.current ??= isOnboarded(steps.data)
  useEffect(() => {
    if (wasOnboarded.current) {
      markOnboardingSeen(api.workspaceId)
      setSeen(true)
    }
  })
  if (query.isError && !query.data)
    return <ErrorState error={query.error} retry={() => void query.refetch()} />
  // The list waits for the checklist, so that the list does not move down when the checklist appears.
  if (!query.data || (!isSeen && canEdit && steps.isPending)) return <LoadingRows />
  const hasNoLinks = steps.data?.link === null && !isFiltered(filters)
  return (
    <>
      {steps.data && !isSeen && !wasOnboarded.current && <OnboardingChecklist steps={steps.data} />}
      {!hasNoLinks && <LinkResults query={query} handlers={handlers} create={create} />}
    </>
  )
}

const LoadingRows = () => (
  <>
    <div className="h-22 max-sm:h-33" />
    <SkeletonRows rows={8} className="h-16" />
  </>
)
