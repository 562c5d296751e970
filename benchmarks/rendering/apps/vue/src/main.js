import { createApp } from "vue";
import { createRouter, createWebHashHistory, createWebHistory } from "vue-router";
import App from "./App.vue";
import Law from "./Law.vue";
import List from "./List.vue";

const routes = [
  { path: "/", redirect: "/list/1" },
  { path: "/list/:page", component: List, props: true },
  { path: "/law/:part/:slug", component: Law, props: true },
];

const history = import.meta.env.MODE === "hash" ? createWebHashHistory() : createWebHistory();
createApp(App).use(createRouter({ history, routes })).mount("#app");
