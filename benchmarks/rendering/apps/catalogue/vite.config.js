import vue from "@vitejs/plugin-vue";

// The pages come from a server's templates, which name the script.
export default {
  plugins: [vue()],
  build: { rollupOptions: { input: "main.js", output: { entryFileNames: "assets/app.js" } } },
};
