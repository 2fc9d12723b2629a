// Gives an unknown slug the destination of another link: the closest one, or one that is searched.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { createLink, invalidateLinks, linkQuery } from '../../../api/links.ts'
import { foundLinksQuery, type MissingSlug } from '../../../api/missing.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { classNames } from '../../../ui/class-names.ts'
import { ErrorState } from '../../../ui/error-state.tsx'
import { toReadableUrl } from '../../../ui/format.ts'
import { FormDialog } from '../../../ui/forms/form-dialog.tsx'
import { SearchField } from '../../../ui/forms/search-field.tsx'
import { useDebouncedText } from '../../../ui/forms/use-debounced-text.ts'
import { toast } from '../../../ui/overlays/toast.tsx'
import { SkeletonRows } from '../../../ui/skeleton.tsx'
import { toVisibleText } from '../../../ui/visible-text.ts'

interface Props {
  missing: MissingSlug
  onClose: () => void
}

const TYPING_MS = 180

export function RedirectDialog({ missing, onClose }: Props) {
  const [chosen, choose] = useState<LinkResource>()
  const options = useOptions(missing)
  const target = chosen ?? options.closest
  const save = useRedirect(missing, onClose)
  return (
    <FormDialog
      onClose={onClose}
      title="Redirect to the destination of …"
      description={
        <span className="block break-words">
          {missing.domain}/<bdi>{toVisibleText(missing.slug)}</bdi>
        </span>
      }
      action="Create link"
      busy={save.isPending}
      disabled={!target}
      error={save.error?.message}
      className="grid gap-3"
      onSubmit={() => {
        if (target) save.mutate(target)
      }}
    >
      <SearchField
        label="Search links"
        placeholder="Search links"
        value={options.text}
        onChange={({ target }) => options.setText(target.value)}
      />
      {options.isPending && <SkeletonRows rows={3} className="h-12" />}
      {options.error && <ErrorState error={options.error} />}
      {options.links?.length === 0 && <p className="text-soft">No links found.</p>}
      {options.links && options.links.length > 0 && (
        <Options links={options.links} chosen={target} choose={choose} />
      )}
      <p className="text-sm text-soft">
        The new link gets this destination. Later changes to the other link don’t affect it.
      </p>
    </FormDialog>
  )
}

/** Without a search: the closest link, and then the newest ones. */
function useOptions({ closestLinkId }: MissingSlug) {
  const api = useApi()
  const [search, setSearch] = useState('')
  const [text, setText] = useDebouncedText(search, setSearch, { afterMs: TYPING_MS })
  const closest = useQuery({ ...linkQuery(api, closestLinkId ?? 0), enabled: closestLinkId !== null })
  const found = useQuery(foundLinksQuery(api, search))
  const first = search === '' && closest.data ? [closest.data] : []
  return {
    text,
    setText,
    closest: closest.data,
    isPending: found.isPending || closest.isLoading,
    error: found.error,
    links: found.data && [...first, ...found.data.filter(({ id }) => id !== first[0]?.id)],
  }
}

function useRedirect({ slug, domain }: MissingSlug, onSaved: () => void) {
  const api = useApi()
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ destinationUrl }: LinkResource) =>
      createLink(api, { slug, domain, destinationUrl, trackConversions: true }),
    async onSuccess(link) {
      toast(`${link.domain}/${link.slug} is live`)
      await invalidateLinks(client, api, { fromStart: true })
      onSaved()
    },
    onError() {},
  })
}

interface OptionsProps {
  links: LinkResource[]
  chosen: LinkResource | undefined
  choose: (link: LinkResource) => void
}

function Options({ links, chosen, choose }: OptionsProps) {
  const name = useId()
  return (
    <fieldset className="grid gap-1">
      <legend className="sr-only">Link</legend>
      {links.map((link) => (
        <label
          key={link.id}
          className={classNames(
            'flex min-w-0 items-center gap-3 rounded-lg border px-3 py-2 hover:bg-hover',
            link.id === chosen?.id ? 'border-accent' : 'border-line',
          )}
        >
          <input
            type="radio"
            name={name}
            className="accent-accent"
            checked={link.id === chosen?.id}
            onChange={() => choose(link)}
          />
          <span className="min-w-0">
            <span className="block truncate font-medium">
              <span className="text-soft">{link.domain}/</span>
              {link.slug}
            </span>
            <span className="block truncate text-sm text-soft">{toReadableUrl(link.destinationUrl)}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}
