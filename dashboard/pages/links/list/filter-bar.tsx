// The search, the filters and the order of the Links page. All of them are in the address.

import { useQuery } from '@tanstack/react-query'
import { Tag, X } from 'lucide-react'
import { type RefObject, useRef, useState } from 'react'
import type { LinkFilters } from '../../../api/links.ts'
import { tagsQuery } from '../../../api/tags.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { focusIfLost } from '../../../ui/focus.ts'
import { formatCount } from '../../../ui/format.ts'
import { Select } from '../../../ui/forms/field.tsx'
import { SearchField } from '../../../ui/forms/search-field.tsx'
import { lazyPart } from '../../../ui/lazy-part.tsx'
import { TagDot } from '../../../ui/tag-chip.tsx'
import type { LinkTag } from '../tag-picker/use-tag-options.ts'
import { isFiltered, NO_FILTERS, useLinkSearchText, useSetLinkSearch } from './use-link-search.ts'

const TagPicker = lazyPart(() => import('../tag-picker/tag-picker.tsx'), 'TagPicker')

const SORT_OPTIONS = [
  { label: 'Newest', sort: '', order: '' },
  { label: 'Oldest', sort: '', order: 'asc' },
  { label: 'Most clicks', sort: 'clicks', order: '' },
  { label: 'Fewest clicks', sort: 'clicks', order: 'asc' },
  { label: 'Last clicked', sort: 'lastClickedAt', order: '' },
  { label: 'A to Z', sort: 'slug', order: 'asc' },
]

interface Props {
  filters: LinkFilters
  total: number
  domains: string[]
  searchField: RefObject<HTMLInputElement | null>
  /** Moves the focus from the search field into the list. */
  onDown: () => void
}

export function FilterBar({ filters, total, domains, searchField, onDown }: Props) {
  const setSearch = useSetLinkSearch()
  const order = SORT_OPTIONS.findIndex(
    (option) => option.sort === (filters.sort ?? '') && option.order === (filters.order ?? ''),
  )
  return (
    <div className="mb-3 grid gap-2">
      <div className="flex flex-wrap gap-2">
        <LinkSearch field={searchField} onDown={onDown} />
        <TagFilter tagId={filters.tagId} />
        {(domains.length > 1 || filters.domain) && (
          <Select
            aria-label="Domain"
            className="w-auto! max-w-44 max-sm:max-w-none max-sm:min-w-40 max-sm:flex-1"
            value={filters.domain ?? ''}
            onChange={({ target }) => setSearch({ domain: target.value })}
          >
            <option value="">All domains</option>
            {domains.map((domain) => (
              <option key={domain}>{domain}</option>
            ))}
          </Select>
        )}
        <Select
          aria-label="Show"
          className="w-auto! max-sm:min-w-24 max-sm:flex-1 max-sm:pr-1! max-sm:pl-2!"
          value={filters.archived ?? ''}
          onChange={({ target }) => setSearch({ archived: target.value })}
        >
          <option value="">Active</option>
          <option value="true">Archived</option>
          <option value="all">All links</option>
        </Select>
        <Select
          aria-label="Sort by"
          title="Sort by"
          className="w-auto! max-sm:min-w-24 max-sm:flex-1 max-sm:pr-1! max-sm:pl-2!"
          value={Math.max(0, order)}
          onChange={({ target }) => {
            const option = SORT_OPTIONS[Number(target.value)]
            setSearch({ sort: option?.sort, order: option?.order })
          }}
        >
          {SORT_OPTIONS.map(({ label }, i) => (
            <option key={label} value={i}>
              {label}
            </option>
          ))}
        </Select>
      </div>
      <ActiveFilters
        filters={filters}
        total={total}
        onChange={() => focusIfLost(() => searchField.current)}
      />
    </div>
  )
}

function LinkSearch({ field, onDown }: { field: RefObject<HTMLInputElement | null>; onDown: () => void }) {
  const [text, setText] = useLinkSearchText()
  return (
    <SearchField
      ref={field}
      label="Search links"
      placeholder="Search links"
      spellCheck={false}
      className="min-w-0 flex-1 basis-full sm:basis-56"
      value={text}
      onChange={({ target }) => setText(target.value)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') {
          if (text !== '') setText('')
          else event.currentTarget.blur()
        }
        if (event.key === 'ArrowDown' || event.key === 'Enter') {
          event.preventDefault()
          onDown()
        }
      }}
    />
  )
}

function useFilterTags(tagId: string | undefined): LinkTag[] {
  const ids = (tagId ?? '').split(',').map(Number).filter(Boolean)
  const { data } = useQuery({ ...tagsQuery(useApi()), enabled: ids.length > 0 })
  return ids.map(
    (id) => data?.data.find((tag) => tag.id === id) ?? { id, name: `Tag ${id}`, color: 'gray' as const },
  )
}

function TagFilter({ tagId }: { tagId: string | undefined }) {
  const setSearch = useSetLinkSearch()
  const tags = useFilterTags(tagId)
  const button = useRef<HTMLButtonElement>(null)
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button
        ref={button}
        icon={<Tag size={15} />}
        aria-haspopup="listbox"
        aria-expanded={open}
        className="font-normal! border-strong! max-sm:px-2.5!"
        onClick={() => setOpen(true)}
      >
        {tags.length === 0 ? 'Tags' : `Tags (${tags.length})`}
      </Button>
      {open && (
        <TagPicker
          anchor={button}
          selected={tags}
          onChange={(next) => setSearch({ tagId: next.map(({ id }) => id).join(',') })}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  )
}

interface ActiveFiltersProps {
  filters: LinkFilters
  total: number
  /** A filter was removed, and its button with it. */
  onChange: () => void
}

/** The number of links and the active filters. Always visible, so that the list does not move. */
function ActiveFilters({ filters, total, onChange }: ActiveFiltersProps) {
  const set = useSetLinkSearch()
  const setSearch = (change: Partial<LinkFilters>) => {
    set(change)
    onChange()
  }
  const tags = useFilterTags(filters.tagId)
  return (
    <div className="flex min-h-7 flex-wrap items-center gap-1.5 text-sm">
      <p role="status" className="mr-1.5 pl-1 text-soft">
        {formatCount(total, 'link')}
      </p>
      {tags.map((tag) => (
        <span
          key={tag.id}
          className="inline-flex max-w-60 items-center gap-1.5 rounded-lg border border-line bg-card pl-2"
        >
          <TagDot color={tag.color} />
          <span className="truncate">{tag.name}</span>
          <IconButton
            label={`Remove filter ${tag.name}`}
            className="size-6!"
            onClick={() =>
              setSearch({
                tagId: tags
                  .filter((other) => other !== tag)
                  .map(({ id }) => id)
                  .join(','),
              })
            }
          >
            <X size={13} />
          </IconButton>
        </span>
      ))}
      {isFiltered(filters) && (
        <Button variant="quiet" size="small" onClick={() => setSearch(NO_FILTERS)}>
          Clear filters
        </Button>
      )}
    </div>
  )
}
