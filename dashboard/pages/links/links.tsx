// All links of the workspace.

import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { lazy, Suspense, useCallback, useEffect, useRef, useState } from 'react'
import type { LinkResource } from '../../../server/features/links/schema.ts'
import { firstStepsQuery, isBegun } from '../../api/first-steps.ts'
import { useApi } from '../../shell/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { Failed, SkeletonRows } from '../../ui/states.tsx'
import { useLinkActions } from './actions.ts'
import { hasBegun, rememberBegun } from './begun.ts'
import { Found } from './found.tsx'
import type { LinkActs } from './row.tsx'
import { filtersOf, isFiltered, useLinkSearch, useLinks, useSetLinkSearch } from './search.ts'

const LinkDrawer = lazy(() => import('./drawer.tsx').then(({ LinkDrawer }) => ({ default: LinkDrawer })))
const QrDialog = lazy(() => import('./qr-dialog.tsx').then(({ QrDialog }) => ({ default: QrDialog })))
const FirstSteps = lazy(() => import('./first-steps.tsx').then(({ FirstSteps }) => ({ default: FirstSteps })))

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
  acts: LinkActs
  create: () => void
}

function Content({ acts, create }: ContentProps) {
  const api = useApi()
  const filters = filtersOf(useLinkSearch())
  // Read once: who takes the last step still sees that it was the last.
  const [known, setKnown] = useState(() => hasBegun(api.workspaceId))
  const steps = useQuery({ ...firstStepsQuery(api), enabled: !known })
  const query = useLinks(filters)
  const atFirst = useRef<boolean>(undefined)
  if (steps.data) atFirst.current ??= isBegun(steps.data)
  useEffect(() => {
    if (atFirst.current) {
      rememberBegun(api.workspaceId)
      setKnown(true)
    }
  })
  if (query.isError && !query.data) return <Failed error={query.error} retry={() => void query.refetch()} />
  // Both at once, so that nothing is pushed down when the other comes.
  if (!query.data || (!known && steps.isPending)) return <Waiting />
  const isNew = steps.data?.link === null && !isFiltered(filters)
  return (
    <>
      {steps.data && !known && !atFirst.current && (
        <Suspense fallback={<SkeletonRows rows={1} className="mb-5 h-40 rounded-2xl" />}>
          <FirstSteps steps={steps.data} />
        </Suspense>
      )}
      {!isNew && <Found query={query} acts={acts} create={create} />}
    </>
  )
}

const Waiting = () => (
  <>
    <div className="h-22 max-sm:h-33" />
    <SkeletonRows rows={8} className="h-16" />
  </>
)
