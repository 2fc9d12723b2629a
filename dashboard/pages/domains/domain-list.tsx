// The rows of the Domains page. A row opens the domain; j and k move through the rows.

import { Link, useNavigate } from '@tanstack/react-router'
import { BarChart3, Link2, MoreHorizontal, Settings2, Star, Trash2 } from 'lucide-react'
import { useMemo, useRef, useState } from 'react'
import type { DomainResource } from '../../api/domains.ts'
import { useCanEdit, useWorkspace } from '../../shell/use-workspace.ts'
import { IconButton } from '../../ui/button.tsx'
import { focusIfLost } from '../../ui/focus.ts'
import { formatCount } from '../../ui/format.ts'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../ui/overlays/menu.tsx'
import { toRowClicks } from '../../ui/row-click.ts'
import { useShortcuts } from '../../ui/shortcuts.ts'
import { DomainBadges } from './domain-state.tsx'
import { usePrimaryDomain } from './use-primary-domain.ts'

const DeleteDomainDialog = lazyPart(() => import('./delete-domain-dialog.tsx'), 'DeleteDomainDialog')

export function DomainList({ domains }: { domains: DomainResource[] }) {
  const list = useRef<HTMLUListElement>(null)
  const [deleting, setDeleting] = useState<DomainResource>()
  useShortcuts(
    useMemo(() => {
      const step = (by: number) => {
        const links = [...(list.current?.querySelectorAll<HTMLElement>('a[data-row]') ?? [])]
        const at = links.indexOf(document.activeElement as HTMLElement)
        links[Math.min(Math.max(at + by, 0), links.length - 1)]?.focus()
      }
      return [
        { keys: 'j', label: 'Next domain', run: () => step(1) },
        { keys: 'k', label: 'Previous domain', run: () => step(-1) },
      ]
    }, []),
  )
  return (
    <>
      <ul ref={list} className="divide-y divide-line overflow-clip rounded-2xl border border-line bg-card">
        {domains.map((domain) => (
          <Row key={domain.id} domain={domain} remove={() => setDeleting(domain)} />
        ))}
      </ul>
      {deleting && (
        <DeleteDomainDialog
          domain={deleting}
          onClose={() => {
            setDeleting(undefined)
            focusIfLost('a[data-row]', '[data-add-domain]', '#main')
          }}
        />
      )}
    </>
  )
}

function Row({ domain, remove }: { domain: DomainResource; remove: () => void }) {
  const workspaceId = String(useWorkspace().id)
  const navigate = useNavigate()
  const params = { workspaceId, domainId: String(domain.id) }
  const to = '/$workspaceId/domains/$domainId'
  return (
    <li
      {...toRowClicks(
        `/app/${workspaceId}/domains/${domain.id}`,
        () => void navigate({ to, params, search: {} }),
      )}
      className="grid cursor-pointer grid-cols-[minmax(0,1fr)_auto] items-center gap-x-3 gap-y-1 px-4 py-3 focus-within:bg-hover hover:bg-hover sm:grid-cols-[minmax(0,1fr)_auto_auto]"
    >
      <span className="flex min-w-0 flex-wrap items-center gap-x-2.5 gap-y-1">
        <Link to={to} params={params} search={{}} data-row className="min-w-0 truncate rounded font-medium">
          {domain.domain}
        </Link>
        <DomainBadges domain={domain} />
      </span>
      <Link
        to="/$workspaceId/links"
        params={{ workspaceId }}
        search={{ domain: domain.domain, archived: 'all' }}
        className="rounded text-sm whitespace-nowrap tabular-nums underline-offset-2 hover:underline max-sm:row-start-2"
      >
        {formatCount(domain.links, 'link')}
      </Link>
      <RowMenu domain={domain} remove={remove} />
      {domain.problem !== null && (
        <p className="col-span-full text-sm break-words text-soft">{domain.problem}</p>
      )}
    </li>
  )
}

function RowMenu({ domain, remove }: { domain: DomainResource; remove: () => void }) {
  const { id, role } = useWorkspace()
  const canEdit = useCanEdit()
  const primary = usePrimaryDomain()
  const workspaceId = String(id)
  const name = domain.domain
  return (
    <Menu
      trigger={
        <IconButton label={`More for ${name}`} title="More">
          <MoreHorizontal size={17} />
        </IconButton>
      }
    >
      <MenuItem
        icon={<Settings2 size={15} />}
        render={
          <Link
            to="/$workspaceId/domains/$domainId"
            params={{ workspaceId, domainId: String(domain.id) }}
            search={{}}
          />
        }
      >
        DNS and settings
      </MenuItem>
      {canEdit && domain.verified && !domain.primary && (
        <MenuItem icon={<Star size={15} />} onSelect={() => primary.mutate({ domain, primary: true })}>
          Make primary
        </MenuItem>
      )}
      <MenuItem
        icon={<Link2 size={15} />}
        render={<Link to="/$workspaceId/links" params={{ workspaceId }} search={{ domain: name }} />}
      >
        Links
      </MenuItem>
      <MenuItem
        icon={<BarChart3 size={15} />}
        render={<Link to="/$workspaceId/analytics" params={{ workspaceId }} search={{ domain: name }} />}
      >
        Analytics
      </MenuItem>
      {role === 'owner' && (
        <>
          <MenuSeparator />
          <MenuItem danger icon={<Trash2 size={15} />} onSelect={remove}>
            Delete
          </MenuItem>
        </>
      )}
    </Menu>
  )
}
