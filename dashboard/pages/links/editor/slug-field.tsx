// The field for the slug. The server tells whether the slug is free while it is typed.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Shuffle } from 'lucide-react'
import { type ChangeEvent, type CompositionEvent, type ReactNode, useLayoutEffect, useRef } from 'react'
import type { LinkResource, SlugAvailability } from '../../../../server/features/links/schema.ts'
import { invalidateLinks, restoreLinks, slugQuery } from '../../../api/links.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { IconButton } from '../../../ui/button.tsx'
import { formatCount } from '../../../ui/format.ts'
import { CODE_INPUT } from '../../../ui/forms/control-class.ts'
import { Field, formatExample, Select } from '../../../ui/forms/field.tsx'
import { useDebounced } from '../../../ui/forms/use-debounced.ts'
import { toast, toastError } from '../../../ui/overlays/toast.tsx'
import { type LinkDomain, useLinkDomains } from '../link/use-link-domains.ts'
import type { LinkFieldsProps } from './field-props.ts'
import { toTypedSlugAt } from './typed-slug.ts'

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
  const typing = useTypedSlug((typed) => onChange({ slug: typed }))
  const { domains, primary } = useLinkDomains()
  const name = draft.domain || primary.name
  // A link keeps its domain after the domain has lost its verification.
  const domain = domains.find((each) => each.name === name) ?? { name, caseSensitive: false }
  return (
    <Field
      label="Short link"
      className="grid-cols-1"
      error={errors.slug ?? errors.domain}
      hint={
        <span aria-live="polite">
          <SlugHint slug={slug} domain={domain} hasChoice={domains.length > 1} link={link} />
          {link && link.domain !== domain.name && <OldLinkWarning link={link} />}
        </span>
      }
    >
      {(control) => (
        <div className="flex h-9 items-center rounded-lg border border-strong bg-card focus-within:outline-2 focus-within:outline-offset-2 focus-within:outline-accent">
          <DomainPrefix
            domain={domain}
            domains={domains}
            // The error was about the slug on the other domain.
            onChange={(name) => onChange({ domain: name, slug })}
          />
          <input
            {...control}
            {...CODE_INPUT}
            // An emoji takes two units for a character; a slug has 190 units.
            maxLength={380}
            placeholder={link ? link.slug : formatExample('spring-sale')}
            className="h-full min-w-0 flex-1 rounded-r-lg bg-card px-0.5 outline-none"
            value={slug}
            {...typing}
          />
          <IconButton label="Generate a random slug" onClick={() => onChange({ slug: randomSlug() })}>
            <Shuffle size={15} />
          </IconButton>
        </div>
      )}
    </Field>
  )
}

/**
 * Changes the text as it is typed, and leaves the caret where it was: React would move it to the end. While an input method
 * composes a character, the text is the input method's.
 */
function useTypedSlug(set: (slug: string) => void) {
  const caret = useRef<{ input: HTMLInputElement; at: number }>(undefined)
  useLayoutEffect(() => {
    caret.current?.input.setSelectionRange(caret.current.at, caret.current.at)
    caret.current = undefined
  })
  const take = (input: HTMLInputElement) => {
    const typed = toTypedSlugAt(input.value, input.selectionStart ?? input.value.length)
    if (typed.slug !== input.value) caret.current = { input, at: typed.caret }
    set(typed.slug)
  }
  return {
    onChange({ target, nativeEvent }: ChangeEvent<HTMLInputElement>) {
      if ((nativeEvent as InputEvent).isComposing) set(target.value)
      else take(target)
    },
    onCompositionEnd: ({ currentTarget }: CompositionEvent<HTMLInputElement>) => take(currentTarget),
  }
}

interface PrefixProps {
  domain: LinkDomain
  domains: LinkDomain[]
  onChange: (name: string) => void
}

/** A menu of domains where there is a choice. */
function DomainPrefix({ domain, domains, onChange }: PrefixProps) {
  const others = domains.filter(({ name }) => name !== domain.name)
  if (others.length === 0)
    return <span className="max-w-[45%] shrink-0 truncate pl-3 text-soft">{domain.name}/</span>
  return (
    <>
      <Select
        aria-label="Domain"
        title={domain.name}
        className="h-full! w-auto! max-w-[45%] min-w-0 shrink-0 rounded-r-none! border-0! border-r! border-line! pr-1.5! focus-visible:bg-hover"
        value={domain.name}
        onChange={({ target }) => onChange(target.value)}
      >
        {(domains.includes(domain) ? domains : [domain, ...others]).map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
      </Select>
      <span aria-hidden className="pl-1.5 text-soft">
        /
      </span>
    </>
  )
}

interface HintProps {
  slug: string
  domain: LinkDomain
  hasChoice: boolean
  link: LinkFieldsProps['link']
}

/** Shows only the answer for the current text, never one for an older text. */
function SlugHint({ slug, domain, hasChoice, link }: HintProps) {
  const isMoving = link !== undefined && link.domain !== domain.name
  const fold = (text: string) => (domain.caseSensitive ? text : text.toLowerCase())
  const entered = slug.trim().normalize('NFC')
  // A link that moves takes its slug along.
  const typed = entered === '' && isMoving ? link.slug : entered
  const checked = useDebounced(typed, TYPING_MS)
  const isOwn = !isMoving && link !== undefined && fold(typed) === fold(link.slug)
  const { data, isError } = useQuery({
    ...slugQuery(useApi(), checked, hasChoice ? domain.name : undefined),
    enabled: checked !== '' && checked === typed && !isOwn,
    retry: false,
  })
  if (typed === '') return link ? 'Leave empty to keep the current slug.' : 'Leave empty for a random slug.'
  if (isOwn || isError) return `${RULE} ${domain.caseSensitive ? CASE_RULE : 'Not case-sensitive.'}`
  if (checked !== typed || !data) return 'Checking…'
  if (data.available)
    return link && !isMoving ? <OldSlugWarning link={link} /> : <Good>This short link is free.</Good>
  if (data.reason === 'trash' && data.linkId !== null) return <TrashedSlug id={data.linkId} slug={typed} />
  return <Bad>{REASONS[data.reason ?? 'taken'](data)}</Bad>
}

const RULE = 'Letters, digits, emoji, “-”, “_”, “.”, and “/” between parts.'
const CASE_RULE = 'This domain is case-sensitive: /Sale and /sale are two links.'
const REASONS: Record<NonNullable<SlugAvailability['reason']>, (answer: SlugAvailability) => string> = {
  invalid: ({ message }) => `The slug ${message}.`,
  reserved: () => 'This name is reserved for the server itself.',
  taken: ({ linkId }) =>
    linkId === null ? 'This short link is taken.' : 'Another link of this workspace has it.',
  trash: () => 'A link in the trash has this short link.',
}

const Good = ({ children }: { children: ReactNode }) => <span className="text-accent">{children}</span>
const Bad = ({ children }: { children: ReactNode }) => <span className="text-danger">{children}</span>

const OldSlugWarning = ({ link: { slug, clicks } }: { link: LinkResource }) => (
  <span className="text-warn">
    Free. /{slug} will stop working{clicks > 0 && `. It has ${formatCount(clicks, 'click')}`}.
  </span>
)

/** The link goes to another domain. */
const OldLinkWarning = ({ link: { domain, slug, clicks } }: { link: LinkResource }) => (
  <span className="block break-words text-warn">
    The link moves. {domain}/{slug} will stop working
    {clicks > 0 && `. It has ${formatCount(clicks, 'click')}`}.
  </span>
)

function TrashedSlug({ id, slug }: { id: number; slug: string }) {
  const api = useApi()
  const client = useQueryClient()
  const restore = useMutation({
    mutationFn: () => restoreLinks(api, [id]),
    onSuccess: () => toast(`/${slug} is restored`),
    onError: (error) => toastError(error, 'Couldn’t restore'),
    onSettled: () => invalidateLinks(client, api, { fromStart: true }),
  })
  return (
    <>
      <Bad>A link in the trash has this short link.</Bad>{' '}
      <button type="button" className="text-link" onClick={() => restore.isPending || restore.mutate()}>
        Restore it
      </button>
    </>
  )
}
