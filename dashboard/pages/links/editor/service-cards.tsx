// The social card as each service draws it: its size, its colors, and where it cuts texts off. The services
// change that now and then.

import { ImageOff } from 'lucide-react'
import type { ReactNode } from 'react'
import { classNames } from '../../../ui/class-names.ts'

export type CardImage =
  | { kind: 'loading' | 'broken' }
  | { kind: 'image'; url: string; onSize: (width: number, height: number) => void }

export interface ShownCard {
  title: string
  description: string
  /** null where the card has none. */
  image: CardImage | null
  domain: string
}

/** Every service cuts a large image to 1.91:1. */
function Picture({ image, className }: { image: CardImage; className?: string }) {
  const frame = classNames(
    'aspect-[1.91/1] w-full bg-[light-dark(#e4e6eb,#2b2f33)] text-[light-dark(#65676b,#b0b3b8)]',
    className,
  )
  if (image.kind === 'image') {
    return (
      <img
        src={image.url}
        alt=""
        className={classNames(frame, 'object-cover')}
        onLoad={({ currentTarget }) => image.onSize(currentTarget.naturalWidth, currentTarget.naturalHeight)}
      />
    )
  }
  return (
    <div className={classNames(frame, 'grid place-items-center', image.kind === 'loading' && 'pulse')}>
      {image.kind === 'broken' && <ImageOff size={28} aria-hidden />}
    </div>
  )
}

function XCard({ title, description, image, domain }: ShownCard) {
  const line = 'border border-[light-dark(#cfd9de,#2f3336)]'
  if (image === null) {
    return (
      <div className={classNames('flex max-w-[32rem] overflow-hidden rounded-2xl', line)}>
        <div className="w-32 shrink-0 bg-[light-dark(#f7f9f9,#16181c)] max-sm:w-20" />
        <div className="grid min-w-0 content-center gap-0.5 p-3 text-[15px] leading-5">
          <span className="truncate text-[light-dark(#536471,#71767b)]">{domain}</span>
          <span className="truncate text-[light-dark(#0f1419,#e7e9ea)]">{title}</span>
          <span className="line-clamp-2 text-[light-dark(#536471,#71767b)]">{description}</span>
        </div>
      </div>
    )
  }
  return (
    <div className="max-w-[32rem]">
      <div className={classNames('relative overflow-hidden rounded-2xl', line)}>
        <Picture image={image} />
        <span className="absolute bottom-3 left-3 max-w-[calc(100%-1.5rem)] truncate rounded bg-[rgb(0_0_0/0.77)] px-1 text-[13px] leading-5 text-white">
          {title}
        </span>
      </div>
      <p className="mt-0.5 truncate text-[13px] text-[light-dark(#536471,#71767b)]">From {domain}</p>
    </div>
  )
}

const FacebookCard = ({ title, description, image, domain }: ShownCard) => (
  <div className="max-w-[31.25rem] overflow-hidden border-y border-[light-dark(#ced0d4,#3e4042)]">
    {image && <Picture image={image} />}
    <div className="grid gap-0.5 bg-[light-dark(#f0f2f5,#3a3b3c)] px-4 py-3">
      <span className="truncate text-[13px] text-[light-dark(#65676b,#b0b3b8)] uppercase">{domain}</span>
      <span className="line-clamp-2 text-[17px] leading-[1.2] font-semibold text-[light-dark(#050505,#e4e6eb)]">
        {title}
      </span>
      <span className="truncate text-[15px] text-[light-dark(#65676b,#b0b3b8)]">{description}</span>
    </div>
  </div>
)

const SlackCard = ({ title, description, image, domain }: ShownCard) => (
  <div className="flex max-w-[37.5rem] gap-3 text-[15px] leading-[1.46]">
    <div className="w-1 shrink-0 rounded-full bg-[light-dark(#dddddd,#4b4d50)]" />
    <div className="min-w-0">
      <p className="truncate font-bold text-[light-dark(#1d1c1d,#d1d2d3)]">{domain}</p>
      <p className="line-clamp-2 font-bold text-[light-dark(#1264a3,#1d9bd1)]">{title}</p>
      <p className="line-clamp-5 text-[light-dark(#1d1c1d,#d1d2d3)]">{description}</p>
      {image && <Picture image={image} className="mt-2 max-w-[22.5rem] rounded-lg" />}
    </div>
  </div>
)

const WhatsAppCard = ({ title, description, image, domain }: ShownCard) => (
  <div className="max-w-[20.625rem] rounded-lg bg-[light-dark(#d9fdd3,#005c4b)] p-1 text-[light-dark(#111b21,#e9edef)]">
    <div className="overflow-hidden rounded-md bg-[light-dark(#d1f4cc,#025144)]">
      {image && <Picture image={image} />}
      <div className="grid gap-0.5 px-2.5 py-2">
        <span className="line-clamp-2 text-sm font-medium">{title}</span>
        <span className="truncate text-[13px] text-[light-dark(#667781,#9fc3bb)]">{description}</span>
        <span className="truncate text-[12px] text-[light-dark(#667781,#9fc3bb)]">{domain}</span>
      </div>
    </div>
    <p className="truncate px-1.5 pt-1.5 pb-1 text-[14.2px] text-[light-dark(#027eb5,#53bdeb)]">
      https://{domain}/…
    </p>
  </div>
)

interface CardService {
  id: 'x' | 'facebook' | 'slack' | 'whatsapp'
  label: string
  /** The color around the card. */
  backdrop: string
  Card: (card: ShownCard) => ReactNode
}

export const CARD_SERVICES: readonly [CardService, ...CardService[]] = [
  { id: 'x', label: 'X', backdrop: 'bg-[light-dark(#ffffff,#000000)]', Card: XCard },
  { id: 'facebook', label: 'Facebook', backdrop: 'bg-[light-dark(#ffffff,#242526)]', Card: FacebookCard },
  { id: 'slack', label: 'Slack', backdrop: 'bg-[light-dark(#ffffff,#1a1d21)]', Card: SlackCard },
  { id: 'whatsapp', label: 'WhatsApp', backdrop: 'bg-[light-dark(#efeae2,#0b141a)]', Card: WhatsAppCard },
]
