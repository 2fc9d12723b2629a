// The command palette (⌘K): opens pages, finds links and forms, and starts actions.

import { Autocomplete } from '@base-ui/react/autocomplete'
import { Dialog } from '@base-ui/react/dialog'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { FileText, Link2, type LucideIcon, Plus } from 'lucide-react'
import { useDeferredValue, useMemo, useState } from 'react'
import type { FormResource } from '../../server/features/forms/schema.ts'
import type { LinkResource } from '../../server/features/links/schema.ts'
import { NAV_ITEMS } from './nav-items.tsx'
import { useApi, useCanEdit, useWorkspace } from './use-workspace.ts'

interface PaletteEntry {
  id: string
  label: string
  detail?: string
  icon: LucideIcon
  run: () => void
}

const RESULTS_MAX = 8

export function CommandPalette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const entries = useEntries(text)
  const choose = (entry: PaletteEntry | undefined) => {
    if (!entry) return
    onClose()
    entry.run()
  }
  return (
    <Dialog.Root open onOpenChange={(open) => open || onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fade fixed inset-0 z-40 bg-shade" />
        <Dialog.Popup
          aria-label="Search and commands"
          className="appear fixed top-[12dvh] left-1/2 z-50 flex max-h-[70dvh] w-[calc(100%-2rem)] max-w-xl -translate-x-1/2 flex-col overflow-hidden rounded-2xl border border-line bg-card shadow-xl"
        >
          <Autocomplete.Root
            inline
            open
            items={entries}
            value={text}
            onValueChange={setText}
            filter={null}
            itemToStringValue={(entry: PaletteEntry) => entry.label}
            autoHighlight="always"
            keepHighlight
          >
            <Autocomplete.Input
              aria-label="Search and commands"
              placeholder="Search links and forms, or jump to a page"
              className="h-13 w-full border-b border-line bg-card px-4 outline-none"
            />
            <Autocomplete.Empty className="px-4 text-soft empty:hidden">
              <p className="py-6">No matches</p>
            </Autocomplete.Empty>
            <Autocomplete.List className="overflow-y-auto p-1.5 empty:hidden">
              {(entry: PaletteEntry) => (
                <Autocomplete.Item
                  key={entry.id}
                  value={entry}
                  onClick={() => choose(entry)}
                  className="flex items-center gap-3 rounded-lg px-3 py-2 outline-none data-highlighted:bg-hover"
                >
                  <entry.icon size={16} className="shrink-0 text-soft" />
                  <span className="truncate">{entry.label}</span>
                  {entry.detail && <span className="ml-auto truncate text-sm text-soft">{entry.detail}</span>}
                </Autocomplete.Item>
              )}
            </Autocomplete.List>
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function useEntries(text: string): PaletteEntry[] {
  const navigate = useNavigate()
  const { id } = useWorkspace()
  const canEdit = useCanEdit()
  const search = useDeferredValue(text.trim())
  const { links, forms } = useSearchResults(search)
  return useMemo(() => {
    const params = { workspaceId: String(id) }
    const creations: PaletteEntry[] = [
      {
        id: 'new link',
        label: 'New link',
        icon: Plus,
        run: () => void navigate({ to: '/$workspaceId/links', params, search: { new: '1' } }),
      },
      {
        id: 'new form',
        label: 'New form',
        icon: Plus,
        run: () => void navigate({ to: '/$workspaceId/forms', params, search: { new: '1' } }),
      },
    ]
    const commands: PaletteEntry[] = [
      ...(canEdit ? creations : []),
      ...NAV_ITEMS.map(({ to, label, icon }) => ({
        id: to,
        label,
        icon,
        run: () => void navigate({ to, params, search: {} }),
      })),
    ]
    const linkPage = '/$workspaceId/links/$linkId'
    const formPage = '/$workspaceId/forms/$formKey'
    return [
      ...commands.filter(({ label }) => label.toLowerCase().includes(search.toLowerCase())),
      ...links.map((link) => ({
        id: `link ${link.id}`,
        label: link.title ?? `${link.domain}/${link.slug}`,
        detail: link.title ? `/${link.slug}` : link.destinationUrl,
        icon: Link2,
        run: () =>
          void navigate({ to: linkPage, params: { ...params, linkId: String(link.id) }, search: {} }),
      })),
      ...forms.map(({ formKey, name }) => ({
        id: `form ${formKey}`,
        label: name,
        detail: formKey,
        icon: FileText,
        run: () => void navigate({ to: formPage, params: { ...params, formKey }, search: {} }),
      })),
    ]
  }, [search, links, forms, navigate, id, canEdit])
}

const NONE: never[] = []

/** Links and forms that match the search; none while the search is empty. */
function useSearchResults(search: string) {
  const api = useApi()
  const links = useQuery({
    queryKey: [api.workspaceId, 'links', 'palette', search],
    queryFn: ({ signal }) =>
      api.page<LinkResource>('/links', { query: { search, limit: RESULTS_MAX, sort: 'clicks' }, signal }),
    enabled: search !== '',
    placeholderData: (before) => before,
  })
  const forms = useQuery({
    queryKey: [api.workspaceId, 'forms', 'palette'],
    queryFn: ({ signal }) => api.page<FormResource>('/forms', { query: { limit: 100 }, signal }),
  })
  return useMemo(() => {
    const lowerCase = search.toLowerCase()
    const matches = forms.data?.data.filter(({ name }) => name.toLowerCase().includes(lowerCase))
    if (search === '') return { links: NONE, forms: NONE }
    return { links: links.data?.data ?? NONE, forms: matches?.slice(0, RESULTS_MAX) ?? NONE }
  }, [search, links.data, forms.data])
}
