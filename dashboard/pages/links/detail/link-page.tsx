// The page of one link: its settings and its analytics.

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Pencil, QrCode } from 'lucide-react'
import { useMemo, useRef, useState } from 'react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { ApiError } from '../../../api/client.ts'
import { findLoadedLink, linkQuery } from '../../../api/links.ts'
import { NotFoundPage } from '../../../shell/error-pages.tsx'
import { useApi, useCanEdit } from '../../../shell/use-workspace.ts'
import { ViewerDialog } from '../../../shell/viewer.tsx'
import { Button } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { CopyButton } from '../../../ui/copy/copy-button.tsx'
import { ErrorState } from '../../../ui/error-state.tsx'
import { focusIfLost } from '../../../ui/focus.ts'
import { toReadableUrl } from '../../../ui/format.ts'
import { lazyPart } from '../../../ui/lazy-part.tsx'
import { type Crumb, Page } from '../../../ui/page.tsx'
import { useShortcuts } from '../../../ui/shortcuts.ts'
import { Skeleton, SkeletonRows } from '../../../ui/skeleton.tsx'
import { LinkMenuButton } from '../link/link-menu-button.tsx'
import { toLinkName } from '../link/link-name.ts'
import { LinkBadges } from '../link/link-state.tsx'
import { copyLink, useLinkActions } from '../link/use-link-actions.ts'
import { LinkDetails } from './link-details.tsx'

const AnalyticsPanel = lazyPart(
  () => import('../../analytics/analytics-panel.tsx'),
  'AnalyticsPanel',
  <SkeletonRows rows={3} className="h-40 rounded-2xl" />,
)
const LinkDrawer = lazyPart(() => import('../editor/link-drawer.tsx'), 'LinkDrawer')
const QrDialog = lazyPart(() => import('../link/qr-dialog.tsx'), 'QrDialog')

const SplitCard = lazyPart(
  () => import('./split-card.tsx'),
  'SplitCard',
  <Skeleton className="mt-6 h-56 rounded-2xl" />,
)
const LinkMenu = lazyPart(() => import('../link/link-menu.tsx'), 'LinkMenu')

const FROM = '/$workspaceId/links/$linkId'
const LINKS: Crumb[] = [{ label: 'Links', to: '/$workspaceId/links' }]
const COUNTING_MS = 5000

export function LinkPage() {
  const { linkId } = useParams({ from: FROM })
  const api = useApi()
  const client = useQueryClient()
  const id = Number(linkId)
  const query = useQuery({
    ...linkQuery(api, id),
    initialData: () => findLoadedLink(client, api, id),
    initialDataUpdatedAt: 0,
    refetchInterval: COUNTING_MS,
    enabled: Number.isInteger(id) && id > 0,
  })
  const link = query.data
  const fixed = useMemo(() => ({ linkId }), [linkId])
  const isMissing = query.error instanceof ApiError && [404, 422].includes(query.error.status)
  if ((isMissing && !link) || !(id > 0)) return <NotFoundPage />
  return (
    <Page
      key={id}
      title={link ? toLinkName(link) : 'Link'}
      breadcrumb={LINKS}
      heading={link ? <Heading link={link} /> : <Skeleton className="h-8 w-64" />}
      description={link ? <Destination link={link} /> : <Skeleton className="h-5 w-80" />}
      actions={link && <Actions link={link} />}
    >
      {link ? (
        <AboutLink link={link} />
      ) : query.error ? (
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      ) : (
        <Skeleton className="h-48 rounded-2xl" />
      )}
      {/* Needs only the link's number, so its questions are asked together with the one about the link. */}
      {(link || !query.error) && (
        <div className="mt-6">
          <AnalyticsPanel fixed={fixed} since={link?.createdAt} />
        </div>
      )}
    </Page>
  )
}

const AboutLink = ({ link }: { link: LinkResource }) => (
  <>
    {link.suspended && <SuspensionNotice reason={link.suspendedReason} />}
    <LinkDetails link={link} />
    {(link.split || link.splitResult) && <SplitCard link={link} />}
  </>
)

const SuspensionNotice = ({ reason }: { reason: string | null }) => (
  <div role="note" className="mb-4 rounded-2xl border border-danger bg-danger-tint p-4 text-sm wrap-anywhere">
    <p>
      The operator of this server has suspended this link. Visitors see “Link suspended”. The link keeps its
      slug and can’t be deleted.
    </p>
    {reason !== null && <p className="mt-2">Reason: {reason}</p>}
  </div>
)

function useLinkPageHandlers(link: LinkResource) {
  const navigate = useNavigate({ from: FROM })
  const { archive, remove } = useLinkActions()
  const toList = () => navigate({ to: '/$workspaceId/links', search: {} })
  return {
    edit: () => void navigate({ search: (current) => ({ ...current, edit: '1' }), resetScroll: false }),
    closeEdit: () =>
      void navigate({ search: ({ edit: _, ...rest }) => rest, replace: true, resetScroll: false }),
    archive: () => void archive([link], !link.archived),
    remove() {
      void toList().then(() => focusIfLost(() => document.getElementById('main')))
      void remove([link])
    },
    toList: () => void toList(),
  }
}

type LinkPageHandlers = ReturnType<typeof useLinkPageHandlers> & { showQr: () => void }

function useLinkPageShortcuts(link: LinkResource, handlers: LinkPageHandlers) {
  const latest = useRef({ link, handlers })
  latest.current = { link, handlers }
  useShortcuts(
    useMemo(
      () => [
        { keys: 'c', label: 'Copy link', run: () => void copyLink(latest.current.link) },
        { keys: 'e', label: 'Edit link', changes: true, run: () => latest.current.handlers.edit() },
        { keys: 'q', label: 'Show QR code', run: () => latest.current.handlers.showQr() },
        {
          keys: 'a',
          label: 'Archive or unarchive link',
          changes: true,
          run: () => latest.current.handlers.archive(),
        },
        { keys: '#', label: 'Delete link', changes: true, run: () => latest.current.handlers.remove() },
        { keys: 'u', label: 'Back to all links', run: () => latest.current.handlers.toList() },
      ],
      [],
    ),
  )
}

function Heading({ link }: { link: LinkResource }) {
  return (
    <span className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
      <span className="min-w-0 break-all">
        <span className={classNames('text-soft', link.domain === location.host && 'max-sm:hidden')}>
          {link.domain}
        </span>
        <span className="text-soft">/</span>
        {link.slug}
      </span>
      <span className="inline-flex items-center gap-1 text-base font-normal tracking-normal">
        <CopyButton text={link.shortUrl} label="Copy short link" />
        <LinkBadges link={link} />
      </span>
    </span>
  )
}

/** A destination may also be an app's address, which a browser cannot open: only web addresses become links. */
const isWebUrl = (url: string) => /^https?:\/\//.test(url)

const Destination = ({ link: { destinationUrl, title } }: { link: LinkResource }) => (
  <div className="grid grid-cols-[minmax(0,1fr)]">
    {title && <span className="text-ink wrap-anywhere">{title}</span>}
    <span className="truncate">
      {isWebUrl(destinationUrl) ? (
        <a
          href={destinationUrl}
          target="_blank"
          rel="noreferrer noopener"
          className="underline-offset-2 hover:text-ink hover:underline"
        >
          {toReadableUrl(destinationUrl)}
        </a>
      ) : (
        destinationUrl
      )}
    </span>
  </div>
)

/** The buttons, the shortcuts and the dialogs that both open. */
function Actions({ link }: { link: LinkResource }) {
  const { edit } = useSearch({ from: FROM })
  const navigate = useNavigate({ from: FROM })
  const canEdit = useCanEdit()
  const [menuButton, openMenu] = useState<HTMLElement>()
  const [isQrOpen, setQrOpen] = useState(false)
  const handlers = { ...useLinkPageHandlers(link), showQr: () => setQrOpen(true) }
  useLinkPageShortcuts(link, handlers)
  return (
    <>
      <Button icon={<QrCode size={16} />} onClick={handlers.showQr}>
        QR code
      </Button>
      {canEdit && (
        <Button icon={<Pencil size={16} />} onClick={handlers.edit}>
          Edit
        </Button>
      )}
      <LinkMenuButton link={link} onOpen={openMenu} />
      {edit && canEdit && <LinkDrawer id={link.id} onClose={handlers.closeEdit} />}
      {edit && !canEdit && <ViewerDialog onClose={handlers.closeEdit} />}
      {isQrOpen && <QrDialog link={link} onClose={() => setQrOpen(false)} />}
      {menuButton && (
        <LinkMenu
          link={link}
          anchor={menuButton}
          params={null}
          onClose={() => openMenu(undefined)}
          handlers={{
            ...handlers,
            duplicate: () =>
              void navigate({ to: '/$workspaceId/links', search: { new: '1', from: String(link.id) } }),
          }}
        />
      )}
    </>
  )
}
