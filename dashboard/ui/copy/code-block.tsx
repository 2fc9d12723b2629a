// A block of code with a copy button.

import { CopyButton } from './copy-button.tsx'

/** @param label the name of the code, such as "Form as HTML" */
export const CodeBlock = ({ code, label }: { code: string; label: string }) => (
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
      className="max-h-96 overflow-auto p-4 text-sm leading-relaxed -outline-offset-2"
    >
      <code>{code}</code>
    </pre>
  </figure>
)
