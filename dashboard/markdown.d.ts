// The type of a page of Markdown that is imported as text.

declare module '*.md' {
  const text: string
  export default text
}
