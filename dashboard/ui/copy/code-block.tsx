// A block of code with colors and a copy button.

import { classNames } from '../class-names.ts'
import { CopyButton } from './copy-button.tsx'
import { type CodeLanguage, type CodePiece, highlightCode } from './highlight-code.ts'

const COLORS: Record<NonNullable<CodePiece['kind']>, string> = {
  comment: 'text-soft italic',
  tag: 'text-code-tag',
  name: 'text-code-name',
  string: 'text-code-string',
  keyword: 'text-code-tag',
}

interface Props {
  code: string
  /** The name of the code, such as "Form as HTML". */
  label: string
  language?: CodeLanguage
  /** Shows all lines where they fit into this class, such as `max-h-96`. */
  height?: string
}

export const CodeBlock = ({ code, label, language = 'html', height = 'max-h-96' }: Props) => (
  <figure className="overflow-hidden rounded-xl border border-line bg-sunken">
    <figcaption className="flex items-center gap-3 border-b border-line py-1.5 pr-1.5 pl-4 text-sm text-soft">
      <span className="min-w-0 flex-1 truncate">{label}</span>
      <CopyButton text={code} label={`Copy: ${label}`}>
        Copy
      </CopyButton>
    </figcaption>
    <pre
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll it
      tabIndex={0}
      className={classNames('overflow-auto p-4 text-sm leading-relaxed -outline-offset-2', height)}
    >
      <code>
        {highlightCode(code, language).map(({ text, kind }, at) =>
          kind ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: the pieces have no other identity
            <span key={at} className={COLORS[kind]}>
              {text}
            </span>
          ) : (
            text
          ),
        )}
      </code>
    </pre>
  </figure>
)
