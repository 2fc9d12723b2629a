// A preview of a link's social card, as X, Facebook, Slack and WhatsApp draw it.

import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { cardImageQuery, destinationCardQuery } from '../../../api/cards.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { useDebounced } from '../../../ui/forms/use-debounced.ts'
import { useLinkDomains } from '../link/use-link-domains.ts'
import { isUrl, withScheme } from './destination-url.ts'
import { type LinkDraft, toDestinationUrl } from './link-draft.ts'
import { CARD_SERVICES, type ShownCard } from './service-cards.tsx'

const TYPING_MS = 500
/** Below this, X and Facebook show the image small, beside the text. */
const WIDTH_MIN = 600

export function CardPreview({ draft }: { draft: LinkDraft }) {
  const { card, isOwn, ask } = useShownCard(draft)
  const image = useCardImage(card?.image ?? '')
  const [serviceId, setServiceId] = useState(CARD_SERVICES[0].id)
  const [scheme, setScheme] = useState<'light' | 'dark'>(isDark() ? 'dark' : 'light')
  const service = CARD_SERVICES.find(({ id }) => id === serviceId) ?? CARD_SERVICES[0]
  return (
    <section aria-label="Preview of the card" className="grid grid-cols-1 gap-3">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
        <Choice label="Service" options={CARD_SERVICES} value={service.id} onChange={setServiceId} />
        <Choice label="Colors" options={SCHEMES} value={scheme} onChange={setScheme} />
      </div>
      <div
        className={classNames(
          'overflow-hidden rounded-xl border border-line p-3 sm:p-4',
          scheme === 'dark' ? 'scheme-dark' : 'scheme-light',
          service.backdrop,
        )}
      >
        {card ? <service.Card {...card} image={image.state} /> : <Missing ask={ask} />}
      </div>
      <p aria-live="polite" className="text-sm text-soft">
        {card && !isOwn && 'This is the destination’s own card. '}
        <span className="text-warn">{image.problem}</span>
      </p>
    </section>
  )
}

const SCHEMES = [
  { id: 'light', label: 'Light' },
  { id: 'dark', label: 'Dark' },
] as const

const isDark = () =>
  (document.documentElement.dataset.theme ??
    (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark'

/** The card that services show: the link's own, or else the destination's once a person requests it. */
function useShownCard(draft: LinkDraft) {
  const destination = toDestinationUrl(draft)
  const { primary } = useLinkDomains()
  const [asked, setAsked] = useState('')
  const title = draft.previewTitle.trim()
  const description = draft.previewDescription.trim()
  const image = withScheme(draft.previewImage)
  const isOwn = [title, description, image].some((text) => text !== '')
  const isAsked = asked !== '' && asked === destination
  const own = useQuery({ ...destinationCardQuery(useApi(), destination), enabled: !isOwn && isAsked })
  // The answer may be known from "Take from the destination".
  const found = isAsked ? own.data : undefined
  const host = isUrl(destination) ? new URL(withScheme(destination)).host : ''
  let card: (Omit<ShownCard, 'image'> & { image: string }) | undefined
  if (isOwn) card = { title: title || host, description, image, domain: draft.domain || primary.name }
  else if (found && (found.title || found.image)) {
    const domain = found.url === null ? host : new URL(found.url).host
    card = {
      title: found.title ?? domain,
      description: found.description ?? '',
      image: found.image ?? '',
      domain,
    }
  }
  const problem = own.error?.message ?? found?.findings.map(({ message }) => message).join(' ')
  return {
    card,
    isOwn,
    ask: { ask: () => setAsked(destination), canAsk: host !== '', isAsking: own.isFetching, problem },
  }
}

/** The image as the server has fetched it: the page's policy lets the browser load none from elsewhere. */
function useCardImage(typed: string): { state: ShownCard['image']; problem: string } {
  const url = useDebounced(typed, TYPING_MS)
  const isUsable = isUrl(typed) && typed.startsWith('https://')
  const isReady = isUsable && url === typed
  const { data, error, isFetching } = useQuery({ ...cardImageQuery(useApi(), url), enabled: isReady })
  const [small, setSmall] = useState('')
  if (typed === '') return { state: null, problem: '' }
  if (!isUsable) return { state: { kind: 'broken' }, problem: 'The image needs an https URL.' }
  if (!isReady || isFetching) return { state: { kind: 'loading' }, problem: '' }
  if (!data?.dataUrl) {
    const reason = error?.message ?? data?.findings.map(({ message }) => message).join(' ') ?? ''
    return { state: { kind: 'broken' }, problem: `The image can’t be shown. ${reason}` }
  }
  const onSize = (width: number, height: number) => setSmall(width < WIDTH_MIN ? `${width} × ${height}` : '')
  const problem = small === '' ? '' : `The image has ${small} pixels: services may show it small.`
  return { state: { kind: 'image', url: data.dataUrl, onSize }, problem }
}

interface MissingProps {
  ask: { ask: () => void; canAsk: boolean; isAsking: boolean; problem: string | undefined }
}

function Missing({ ask: { ask, canAsk, isAsking, problem } }: MissingProps) {
  return (
    <div className="grid justify-items-center gap-3 rounded-lg bg-card px-4 py-8 text-center text-sm text-soft">
      <p className="break-words">
        {problem ? `No card: ${problem}` : 'Services show the destination’s own card, if it has one.'}
      </p>
      <Button size="small" busy={isAsking} disabled={!canAsk} onClick={ask}>
        Show the destination’s card
      </Button>
    </div>
  )
}

interface ChoiceProps<T extends string> {
  label: string
  options: readonly { id: T; label: ReactNode }[]
  value: T
  onChange: (id: T) => void
}

function Choice<T extends string>({ label, options, value, onChange }: ChoiceProps<T>) {
  return (
    <fieldset className="flex flex-wrap items-center gap-1">
      <legend className="sr-only">{label}</legend>
      {options.map(({ id, label: name }) => (
        <label
          key={id}
          className={classNames(
            'cursor-pointer rounded-lg px-2.5 py-1 text-sm font-medium has-focus-visible:outline-2 has-focus-visible:outline-accent',
            id === value ? 'bg-tint text-accent' : 'text-soft hover:bg-hover hover:text-ink',
          )}
        >
          <input
            type="radio"
            name={`card-${label}`}
            value={id}
            checked={id === value}
            onChange={() => onChange(id)}
            className="sr-only"
          />
          {name}
        </label>
      ))}
    </fieldset>
  )
}
