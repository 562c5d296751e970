import Link from "next/link";

export const metadata = { title: "Morning Edition" };

export default function Layout({ children }) {
  return (
    <html lang="en">
      <body>
        <header><Link href="/">Morning Edition</Link> Read before breakfast</header>
        <main>{children}</main>
        <footer>Subscribe · Letters to the editor</footer>
      </body>
    </html>
  );
}
