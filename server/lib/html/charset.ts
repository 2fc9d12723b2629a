// Reads the charset parameter of a Content-Type, in a header or in a meta element.

/** @returns the charset as written; undefined where there is none */
export const parseCharset = (contentType: string | null): string | undefined =>
  /;\s*charset\s*=\s*["']?([^\s"';]+)/i.exec(contentType ?? '')?.[1]
