// The field for the slug. The server tells whether the slug is free while it is typed.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Shuffle } from 'lucide-react'
import type { ReactNode } from 'react'
import type { LinkResource, SlugAvailability } from '../../../../server/features/links/schema.ts'
import { invalidateLinks, restoreLinks, slugQuery } from '../../../api/links.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { IconButton } from '../../../ui/button.tsx'
import { formatCount } from '../../../ui/format.ts'
import { Field } from '../../../ui/forms/field.tsx'
import { useDebounced } from '../../../ui/forms/use-debounced.ts'
import { toast, toastError } from '../../../ui/overlays/toast.tsx'
import { TEXT_LINK } from '../../../ui/text-link.ts'
import type { LinkFieldsProps } from './field-props.ts'

/** Without letters and digits that are easily confused. */
const ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz'
const RANDOM_LENGTH = 7
const TYPING_MS = 250

const randomSlug = () =>
  Array.from(
    crypto.getRandomValues(new Uint32Array(RANDOM_LENGTH)),
    (n) => ALPHABET[n % ALPHABET.length],
  ).join('')

export function SlugField({ draft, link, errors, onChange }: LinkFieldsProps) {
  const { slug } = draft
  const domain = link?.domain ?? location.host
  return (
    <Field
      label="Short link"
      className="grid-cols-1"
      error={errors.slug}
      hint={
        <span aria-live="polite">
          <SlugHint slug={slug} link={link} />
        </span>
      }
    >
      {(control) => (
        <div className="flex h-9 items-center rounded-lg border border-strong bg-card focus-within:outline-2 focus-within:outline-offset-2 focus-within:outline-accent">
          <span className="max-w-[45%] shrink-0 truncate pl-3 text-soft">{domain}/</span>
          <input
            {...control}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            maxLength={190}
            placeholder={link ? link.slug : 'random'}
            className="h-full min-w-0 flex-1 rounded-r-lg bg-card px-0.5 outline-none"
            value={slug}
            onChange={({ target }) => onChange({ slug: target.value })}
          />
          <IconButton label="Generate a random slug" onClick={() => onChange({ slug: randomSlug() })}>
            <Shuffle size={15} />
          </IconButton>
        </div>
      )}
    </Field>
  )
}

interface HintProps {
  slug: string
  link: LinkFieldsProps['link']
}

/** Only the answer about the text as it is now is shown, never that about an older one. */
function SlugHint({ slug, link }: HintProps) {
  const typed = slug.trim().normalize('NFC')
  const checked = useDebounced(typed, TYPING_MS)
  const isOwn = typed.toLowerCase() === link?.slug.toLowerCase()
  const { data, isError } = useQuery({
    ...slugQuery(useApi(), checked),
    enabled: checked !== '' && checked === typed && !isOwn,
    retry: false,
  })
  if (typed === '') return link ? 'Leave empty to keep the current slug.' : 'Leave empty for a random slug.'
  if (isOwn || isError) return RULE
  if (checked !== typed || !data) return 'Checking…'
  if (data.available) return link ? <OldSlugWarning link={link} /> : <Good>This short link is free.</Good>
  if (data.reason === 'trash' && data.linkId !== null) return <TrashedSlug id={data.linkId} slug={typed} />
  return <Bad>{REASONS[data.reason ?? 'taken'](data.linkId !== null)}</Bad>
}

const RULE = 'Letters, digits, “-”, “_” and “.”. Not case-sensitive.'
const REASONS: Record<NonNullable<SlugAvailability['reason']>, (isOwn: boolean) => string> = {
  invalid: () => 'Use 1 to 190 letters, digits, “-”, “_” and “.”.',
  reserved: () => 'This name is reserved for the server itself.',
  taken: (isOwn) => (isOwn ? 'Another link of this workspace has it.' : 'This short link is taken.'),
  trash: () => 'A link in the trash has this short link.',
}

const Good = ({ children }: { children: ReactNode }) => <span className="text-accent">{children}</span>
const Bad = ({ children }: { children: ReactNode }) => <span className="text-danger">{children}</span>

const OldSlugWarning = ({ link: { slug, clicks } }: { link: LinkResource }) => (
  <span className="text-warn">
    Free. /{slug} will stop working{clicks > 0 && `. It has ${formatCount(clicks, 'click')}`}.
  </span>
)

function TrashedSlug({ id, slug }: { id: number; slug: string }) {
  const api = useApi()
  const client = useQueryClient()
  const restore = useMutation({
    mutationFn: () => restoreLinks(api, [id]),
    onSuccess: () => toast(`/${slug} is restored`),
    onError: (error) => toastError(error, 'Could not restore'),
    onSettled: () => invalidateLinks(client, api, { fromStart: true }),
  })
  return (
    <>
      <Bad>A link in the trash has this short link.</Bad>{' '}
      <button
        type="button"
        className={TEXT_LINK}
        disabled={restore.isPending}
        onClick={() => restore.mutate()}
      >
        Restore it
      </button>
    </>
  )
}
